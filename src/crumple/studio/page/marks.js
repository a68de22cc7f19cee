// Small things drawn over the sheet: where hands and pins are, and a line that is being drawn.

import { BufferAttribute, BufferGeometry, Line, LineBasicMaterial, LineSegments } from "./vendor/three.min.js";

const SIZE = 0.004; // m
const INKS = { crease: "#1560c8", cut: "#c0271b" };

export class Marks {
  constructor(scene) {
    this.scene = scene;
    this.hands = new Map();
    this.line = new Line(new BufferGeometry(), new LineBasicMaterial({ depthTest: false, transparent: true }));
    Object.assign(this.line, { frustumCulled: false, renderOrder: 9, visible: false });
    scene.add(this.line);
  }

  /** Small crosses where hands and pins are, by key; whether any has moved. */
  placeHands(places) {
    let isOther = false;
    for (const [key, mark] of this.hands) if (!(key in places)) isOther = this.drop(key, mark);
    for (const [key, place] of Object.entries(places)) {
      const mark = this.hands.get(key) ?? this.make(key);
      isOther ||= mark.position.x !== place[0] || mark.position.y !== place[1] || mark.position.z !== place[2];
      mark.position.set(...place);
    }
    return isOther;
  }

  make(key) {
    const s = SIZE, geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(Float32Array.from([-s, 0, 0, s, 0, 0, 0, -s, 0, 0, s, 0, 0, 0, -s, 0, 0, s]), 3));
    const color = key.startsWith("pin") ? "#c0392b" : "#1479ff";
    const mark = new LineSegments(geometry, new LineBasicMaterial({ color, depthTest: false, transparent: true }));
    mark.renderOrder = 9;
    this.hands.set(key, mark);
    this.scene.add(mark);
    return mark;
  }

  drop(key, mark) {
    this.scene.remove(mark);
    mark.geometry.dispose();
    mark.material.dispose();
    this.hands.delete(key);
    return true;
  }

  /** A line through points of the world, or none. */
  draw(points, tool) {
    this.line.visible = points.length > 1;
    if (!this.line.visible) return;
    this.line.material.color.set(INKS[tool]);
    this.line.geometry.dispose();
    this.line.geometry = new BufferGeometry();
    this.line.geometry.setAttribute("position", new BufferAttribute(Float32Array.from(points.flatMap((p) => p.toArray())), 3));
  }
}
