// The structure under a developable sheet: regions and their rulings, singular points, junctions, what is held.

import {
  BufferAttribute, BufferGeometry, DoubleSide, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, SphereGeometry,
} from "./vendor/three.min.js";

const FLAT = [0.85, 0.85, 0.85], CREASE = [0.1, 0.1, 0.1];
const REGIONS = [[0.12, 0.47, 0.71], [0.17, 0.55, 0.17], [0.58, 0.4, 0.74], [0.09, 0.66, 0.72], [0.74, 0.49, 0.05], [0.85, 0.37, 0.01], [0.55, 0.34, 0.29]];
const POINTS = [{ color: "#d7191c", size: 0.0022 }, { color: "#222222", size: 0.001 }, { color: "#1479ff", size: 0.0014 }]; // m; by kind
const TINT = 0.35, LIFT = 1e-3; // opacity of regions; of the way to the eye that lines lie before the sheet
const colorOf = (region, none) => (region ? REGIONS[(region - 1) % REGIONS.length] : none);

export class Overlay {
  constructor(scene) {
    Object.assign(this, { scene, isShown: false, has: false, dots: [] });
    this.lines = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ vertexColors: true }));
    this.tint = new Mesh(new BufferGeometry(), new MeshBasicMaterial({ vertexColors: true, side: DoubleSide, transparent: true, opacity: TINT, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -1, polygonOffsetUnits: -1 }));
    for (const body of [this.lines, this.tint]) {
      Object.assign(body, { frustumCulled: false, visible: false });
      scene.add(body);
    }
    this.ball = new SphereGeometry(1, 12, 8);
    this.inks = POINTS.map(({ color }) => new MeshBasicMaterial({ color }));
  }

  /** Take a new structure, or none; `geometry`: that of the sheet. */
  setMesh({ faces, u, lines, line_region: lineRegion, points, point_kinds: kinds, region }, geometry) {
    this.has = Boolean(lines);
    this.dots.forEach((dot) => this.scene.remove(dot));
    this.dots = [];
    if (this.has) {
      const inks = new Float32Array(3 * lines.length), paints = new Float32Array((3 * u.length) / 2);
      for (let k = 0; k < lines.length; k++) inks.set(colorOf(lineRegion[k >> 1], CREASE), 3 * k);
      for (let c = 0; c < faces.length; c++) paints.set(colorOf(region[Math.floor(c / 3)], FLAT), 3 * faces[c]);
      this.ends = lines.slice();
      this.lines.geometry.dispose();
      this.lines.geometry = new BufferGeometry();
      this.lines.geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * lines.length), 3));
      this.lines.geometry.setAttribute("color", new BufferAttribute(inks, 3));
      this.tint.geometry.dispose();
      this.tint.geometry = new BufferGeometry();
      this.tint.geometry.setAttribute("position", geometry.getAttribute("position"));
      this.tint.geometry.setAttribute("color", new BufferAttribute(paints, 3));
      this.tint.geometry.setIndex(geometry.getIndex());
      points.forEach((vertex, k) => this.addDot(vertex, kinds[k]));
    }
    this.show(this.isShown);
  }

  addDot(vertex, kind) {
    const dot = new Mesh(this.ball, this.inks[kind]);
    dot.scale.setScalar(POINTS[kind].size);
    dot.userData.vertex = vertex;
    this.dots.push(dot);
    this.scene.add(dot);
  }

  show(isShown) {
    this.isShown = isShown;
    for (const body of [this.lines, this.tint, ...this.dots]) body.visible = isShown && this.has;
  }

  /** Follow the vertices at `x`, seen by an `eye`. */
  place(x, eye) {
    if (!this.isShown || !this.has) return;
    const { array } = this.lines.geometry.getAttribute("position"), at = [eye.x, eye.y, eye.z];
    for (let k = 0; k < this.ends.length; k++) {
      for (let d = 0; d < 3; d++) array[3 * k + d] = x[3 * this.ends[k] + d] + LIFT * (at[d] - x[3 * this.ends[k] + d]);
    }
    this.lines.geometry.getAttribute("position").needsUpdate = true;
    for (const dot of this.dots) dot.position.fromArray(x, 3 * dot.userData.vertex);
  }
}
