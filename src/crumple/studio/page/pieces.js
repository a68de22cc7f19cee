// What displays are made of: geometry, lines, glass, marks, panes, clicks.

import {
  BufferAttribute, BufferGeometry, DoubleSide, DynamicDrawUsage, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial,
  MeshStandardMaterial,
} from "./vendor/three.min.js";

const ACCENT = "#1479ff";
const CLICK = 4; // pixels that a click may move

/** Geometry whose arrays are reused as long as their length stays. */
export class Corners {
  constructor() {
    this.geometry = new BufferGeometry();
    this.mesh = null;
  }

  /** The array of an attribute for so many corners. */
  array(name, corners) {
    const kept = this.geometry.getAttribute(name);
    if (kept && kept.count === corners) {
      kept.needsUpdate = true;
      return kept.array;
    }
    if (name === "position") this.geometry.dispose();
    const made = new BufferAttribute(new Float32Array(3 * corners), 3);
    made.setUsage(DynamicDrawUsage);
    this.geometry.setAttribute(name, made);
    return made.array;
  }
}

/** Lines along the sides of all faces of `corners`. */
export function makeWire(corners, color, opacity) {
  const geometry = new BufferGeometry();
  const lines = new LineSegments(geometry, new LineBasicMaterial({ color, transparent: true, opacity }));
  lines.frustumCulled = false;
  lines.refresh = () => {
    const position = corners.geometry.getAttribute("position");
    if (geometry.getAttribute("position") === position) return;
    geometry.dispose();
    geometry.setAttribute("position", position);
    const index = new Uint32Array(2 * position.count);
    for (let c = 0; c < position.count; c++) {
      index[2 * c] = c;
      index[2 * c + 1] = c % 3 === 2 ? c - 2 : c + 1;
    }
    geometry.setIndex(new BufferAttribute(index, 1));
  };
  return lines;
}

/** A material that is clear from the front and shows its rim. */
export function makeGlass() {
  const glass = new MeshStandardMaterial({ roughness: 0.4, transparent: true, depthWrite: false, side: DoubleSide });
  glass.onBeforeCompile = (shader) => {
    shader.fragmentShader = shader.fragmentShader.replace(
      "#include <opaque_fragment>",
      `float rim = 1.0 - abs(dot(normalize(vViewPosition), normal));
       diffuseColor.a *= mix(0.07, 0.6, pow(rim, 2.5));
       #include <opaque_fragment>`,
    );
  };
  return glass;
}

/** One face and its outline, drawn over everything. */
export function makeMark() {
  const geometry = new BufferGeometry(), inside = new BufferGeometry();
  const corners = new BufferAttribute(new Float32Array(18), 3);
  geometry.setAttribute("position", corners);
  inside.setAttribute("position", corners);
  inside.setIndex([0, 2, 4]);
  const paint = { color: ACCENT, depthTest: false, transparent: true };
  const mark = new LineSegments(geometry, new LineBasicMaterial(paint));
  mark.add(new Mesh(inside, new MeshBasicMaterial({ ...paint, opacity: 0.6, side: DoubleSide })));
  for (const one of [mark, ...mark.children]) Object.assign(one, { frustumCulled: false, renderOrder: 9 });
  mark.visible = false;
  mark.put = (positions, face) => {
    mark.visible = face >= 0;
    if (face < 0) return;
    const out = corners;
    for (let k = 0; k < 3; k++) {
      for (let d = 0; d < 3; d++) {
        out.array[6 * k + d] = positions[9 * face + 3 * k + d];
        out.array[6 * k + 3 + d] = positions[9 * face + 3 * ((k + 1) % 3) + d];
      }
    }
    out.needsUpdate = true;
  };
  return mark;
}

export function pane(label) {
  const element = document.createElement("div");
  element.className = "pane";
  element.append(Object.assign(document.createElement("span"), { textContent: label }));
  return element;
}

/** Call `then(x, y)`, in -1..1 from left to right and bottom to top, for clicks that are no drags. */
export function onClick(element, then) {
  let from = null;
  element.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY]; });
  element.addEventListener("pointerup", (event) => {
    if (!from || Math.hypot(event.clientX - from[0], event.clientY - from[1]) > CLICK) return;
    const box = element.getBoundingClientRect();
    then((2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height);
  });
}
