// As fine as the machine can draw in time: coarser when pictures come too late.

const LEVELS = [
  { ratio: 2, level: 5, shadow: 2048 }, { ratio: 1.5, level: 5, shadow: 1024 }, { ratio: 1, level: 4, shadow: 1024 },
  { ratio: 1, level: 3, shadow: 512 }, { ratio: 0.7, level: 2, shadow: 512 }, { ratio: 0.5, level: 2, shadow: 256 },
];
const PLAIN = 4; // the level at which machines without a graphics card begin
const SLOW = 24; // ms to draw a picture that are too long
const COUNT = 20; // pictures that are judged together

/** Whether pictures are made as well as can be, however long that takes: for pictures and films in documents. */
const isFine = () => location.hash === "#fine";

/** Whether this browser draws without a graphics card. */
export function isSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2"), about = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = about ? gl.getParameter(about.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return !isFine() && /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

export class Quality {
  constructor(table) {
    this.table = table;
    this.at = table.isPlain ? PLAIN : LEVELS.findIndex((one) => one.ratio <= Math.max(window.devicePixelRatio, 1));
    this.spent = [];
    this.apply();
  }

  apply() {
    const { ratio, level, shadow } = LEVELS[this.at], { sun } = this.table;
    sun.shadow.mapSize.set(shadow, shadow);
    sun.shadow.map?.dispose();
    sun.shadow.map = null;
    this.table.setQuality(Math.min(ratio, window.devicePixelRatio), level);
  }

  /** A picture took so long [ms] after the one before, while there was something to draw. */
  judge(span) {
    this.spent.push(span);
    if (this.spent.length < COUNT) return;
    const median = this.spent.sort((a, b) => a - b)[COUNT >> 1];
    this.spent = [];
    if (median > SLOW && !isFine() && this.at < LEVELS.length - 1) {
      this.at++;
      this.apply();
    }
  }
}
