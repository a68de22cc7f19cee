// The shadow of the sheet on the table, as a flat shape: for machines that draw without a graphics card.

import { DoubleSide, Mesh, MeshBasicMaterial } from "./vendor/three.min.js";

const ABOVE = 0.0005; // m that it lies above the table
const NOT_EQUAL = 517, REPLACE = 7681; // each place is darkened once, however often the sheet is folded

export class FlatShadow {
  /** `geometry` of the sheet, `sun`: where the light comes from. */
  constructor(scene, geometry, sun) {
    this.sun = sun;
    const ink = { color: "#2a1606", transparent: true, opacity: 0.42, side: DoubleSide, depthWrite: false };
    this.mesh = new Mesh(geometry, new MeshBasicMaterial({ ...ink, stencilWrite: true, stencilRef: 1, stencilFunc: NOT_EQUAL, stencilZPass: REPLACE }));
    Object.assign(this.mesh, { frustumCulled: false, matrixAutoUpdate: false, visible: false });
    scene.add(this.mesh);
  }

  /** Lie on a floor, an obstacle with nodes among those at `x`, or nowhere. */
  show(floor, x) {
    this.mesh.visible = Boolean(floor && x);
    if (!this.mesh.visible) return;
    const height = x[3 * floor.first + 2] + ABOVE, [a, b] = [this.sun.x / this.sun.z, this.sun.y / this.sun.z];
    this.mesh.matrix.set(1, 0, -a, a * height, 0, 1, -b, b * height, 0, 0, 0, height, 0, 0, 0, 1);
    this.mesh.matrixWorldNeedsUpdate = true;
  }
}
