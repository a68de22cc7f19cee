// Pictures and films of a canvas, made by the browser and handed to the user as files.

const KINDS = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"];
const RATE = 60; // frames per second at most
const LONGEST = 120; // s
export const NO_FILM = "the browser has filmed nothing: it was too busy, or nothing moved; try again";

/** Hand a file to the user. */
export function offer(blob, name) {
  const link = Object.assign(document.createElement("a"), { download: name, href: URL.createObjectURL(blob) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Save what a canvas shows; `draw()` is called just before. */
export function savePicture(canvas, draw, name) {
  draw();
  canvas.toBlob((blob) => offer(blob, name), "image/png");
}

/** Films a canvas from `start` to `stop`; `onEnd(blob)` gets the film. */
export class Film {
  constructor(canvas) {
    this.canvas = canvas;
    this.recorder = null;
  }

  get isRunning() {
    return this.recorder !== null;
  }

  /** Why this browser cannot film, or "". */
  get obstacle() {
    if (typeof MediaRecorder === "undefined" || !this.canvas.captureStream) return "this browser cannot film; pictures can be saved";
    return KINDS.some((kind) => MediaRecorder.isTypeSupported(kind)) ? "" : "this browser knows no format for films; pictures can be saved";
  }

  start(onEnd) {
    const kind = KINDS.find((one) => MediaRecorder.isTypeSupported(one)), parts = [];
    const recorder = new MediaRecorder(this.canvas.captureStream(RATE), { mimeType: kind, videoBitsPerSecond: 8e6 });
    recorder.ondataavailable = ({ data }) => parts.push(data);
    recorder.onstop = () => {
      clearTimeout(this.timer);
      this.recorder = null;
      onEnd(new Blob(parts, { type: kind }), kind.includes("mp4") ? "mp4" : "webm");
    };
    recorder.start(1000);
    this.recorder = recorder;
    this.timer = setTimeout(() => this.stop(), 1000 * LONGEST);
  }

  stop() {
    if (this.recorder?.state === "recording") this.recorder.stop();
  }
}
