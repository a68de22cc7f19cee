// A surface that is drawn as it comes: faces as fine as they are meant to be, with a normal for each vertex.

import { makeMesh } from "./patch.js";

/** Like `Patches`, for vertices that come with normals; `place` takes positions and normals in one array. */
export class Facets {
  constructor({ faces, u, node }) {
    const count = u.length / 2;
    this.mesh = makeMesh(faces, node, u);
    this.position = new Float32Array(3 * count);
    this.normal = new Float32Array(3 * count);
    this.flat = new Float32Array(3 * faces.length);
    this.u = u;
    this.index = faces;
  }

  /** Follow `both`: the positions of all vertices, then their normals. */
  place(both) {
    const { position, normal, flat, index } = this;
    position.set(both.subarray(0, position.length));
    normal.set(both.subarray(position.length));
    for (let c = 0; c < index.length; c++) for (let d = 0; d < 3; d++) flat[3 * c + d] = position[3 * index[c] + d];
  }
}

/** Positions and normals in one array, which is what moves. */
export function joined({ x, normal }) {
  if (!normal) return x;
  const both = new Float32Array(2 * x.length);
  both.set(x);
  both.set(normal, x.length);
  return both;
}
