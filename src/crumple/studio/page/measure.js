// Measuring: the distance between two points that were clicked, through the air and along the sheet.

import { BufferAttribute, BufferGeometry, Line, LineBasicMaterial } from "./vendor/three.min.js";
import { faceAt, weightsIn } from "./surface.js";

const INK = "#c2185b";

export class Measure {
  /** `onText(line)` gets what was measured. */
  constructor(onText) {
    this.onText = onText;
    this.isOn = false;
    this.points = []; // places in the pattern [m]
    this.display = null;
    this.lines = [0, 1].map(() => {
      const line = new Line(new BufferGeometry(), new LineBasicMaterial({ color: INK, depthTest: false, transparent: true }));
      return Object.assign(line, { frustumCulled: false, renderOrder: 10 });
    });
  }

  /** Measure from now on, or not. */
  turn(isOn) {
    this.isOn = isOn;
    this.clear();
    this.onText(isOn ? "Click two points of a sheet." : "");
  }

  /** A point was clicked, at a place of the pattern. */
  add(display, place) {
    if (this.display !== display || this.points.length === 2) this.clear();
    this.display = display;
    this.points.push(place);
    this.follow(display);
  }

  clear() {
    this.points = [];
    for (const line of this.lines) line.removeFromParent();
    this.display?.stage.draw();
    this.display = null;
  }

  /** Another frame is shown: the points stay on the same pieces of material. */
  follow(display) {
    if (display !== this.display) return;
    if (this.points.length < 2) return this.onText("Click the second point.");
    const ends = this.points.map((place) => whereIs(display, place));
    if (ends.includes(null)) return this.onText("A point is not on the sheet in this frame.");
    this.draw(display, ends);
    const across = away(...ends), along = away(...this.points);
    this.onText(`across ${millimetres(across)} · along ${millimetres(along)} · ${(across / along).toFixed(3)}`);
  }

  draw(display, ends) {
    const flat = this.points.map(([u, v]) => [u, v, 0]);
    [[ends, display.world], [flat, display.flat]].forEach(([points, scene], k) => {
      this.lines[k].geometry.dispose();
      this.lines[k].geometry = new BufferGeometry();
      this.lines[k].geometry.setAttribute("position", new BufferAttribute(Float32Array.from(points.flat()), 3));
      scene.add(this.lines[k]);
    });
    display.stage.draw();
  }
}

/** Where a place of the pattern is in the world, or null. */
function whereIs({ frame }, place) {
  const { mesh, x } = frame, face = faceAt(mesh, ...place);
  if (face < 0) return null;
  const corners = [0, 1, 2].flatMap((k) => [...mesh.pattern.subarray(2 * mesh.faces[3 * face + k], 2 * mesh.faces[3 * face + k] + 2), 0]);
  const weights = weightsIn(corners, [...place, 0]), at = [0, 0, 0];
  for (let k = 0; k < 3; k++) for (let d = 0; d < 3; d++) at[d] += weights[k] * x[3 * mesh.corners[3 * face + k] + d];
  return at;
}

const away = (a, b) => Math.hypot(...a.map((v, d) => v - b[d]));
const millimetres = (length) => `${(1000 * length).toFixed(length < 0.01 ? 2 : 1)} mm`;
