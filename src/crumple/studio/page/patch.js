// Smooth patches over flat faces: curved point-normal triangles (Vlachos 2001) with normals that stay sharp at creases.

import { shade } from "./surface.js";

/** A mesh as `shade` wants it: `corners` are nodes, so that sheets are smooth across cuts of their pattern. */
export function makeMesh(faces, node, u) {
  const count = faces.length / 3, corners = new Uint32Array(faces.length);
  let nodes = 0;
  for (let c = 0; c < faces.length; c++) {
    corners[c] = node[faces[c]];
    nodes = Math.max(nodes, corners[c] + 1);
  }
  const begin = new Uint32Array(nodes + 1), around = new Uint32Array(corners.length);
  for (const n of corners) begin[n + 1]++;
  for (let n = 0; n < nodes; n++) begin[n + 1] += begin[n];
  const next = begin.slice();
  for (let c = 0; c < corners.length; c++) around[next[corners[c]]++] = c;
  return { count, corners, begin, around, faces, pattern: u };
}

/** The places within a triangle whose sides are cut into `level` parts, and the small triangles between them. */
function gridOf(level) {
  const places = [], index = [], row = (i) => (i * (2 * level + 3 - i)) / 2;
  for (let i = 0; i <= level; i++) for (let j = 0; j <= level - i; j++) places.push([i / level, j / level]);
  for (let i = 0; i < level; i++) {
    for (let j = 0; j < level - i; j++) {
      index.push(row(i) + j, row(i + 1) + j, row(i) + j + 1);
      if (j < level - i - 1) index.push(row(i + 1) + j, row(i + 1) + j + 1, row(i) + j + 1);
    }
  }
  return { places, index };
}

/** Patches over all faces of a mesh; `position` and `normal` are filled by `place`. */
export class Patches {
  constructor(mesh, level) {
    const { places, index } = gridOf(level), per = places.length;
    this.mesh = mesh;
    this.places = places;
    this.flat = new Float32Array(9 * mesh.count);
    this.normals = new Float32Array(9 * mesh.count);
    this.position = new Float32Array(3 * per * mesh.count);
    this.normal = new Float32Array(3 * per * mesh.count);
    this.u = new Float32Array(2 * per * mesh.count);
    this.index = new Uint32Array(index.length * mesh.count);
    for (let f = 0; f < mesh.count; f++) {
      for (let k = 0; k < index.length; k++) this.index[index.length * f + k] = per * f + index[k];
      for (let k = 0; k < per; k++) {
        const [b, c] = places[k], a = 1 - b - c, at = 2 * (per * f + k);
        for (let d = 0; d < 2; d++) {
          const corner = (m) => mesh.pattern[2 * mesh.faces[3 * f + m] + d];
          this.u[at + d] = a * corner(0) + b * corner(1) + c * corner(2);
        }
      }
    }
  }

  /** Follow the positions `x` of the vertices; normals are smooth where faces turn by less than `angle` degrees. */
  place(x, angle) {
    const { mesh, flat, normals, places, position, normal } = this, per = places.length;
    for (let c = 0; c < mesh.faces.length; c++) for (let d = 0; d < 3; d++) flat[3 * c + d] = x[3 * mesh.faces[c] + d];
    shade(normals, mesh, flat, angle);
    const control = new Float64Array(21);
    for (let f = 0; f < mesh.count; f++) {
      this._controls(control, 9 * f);
      for (let k = 0; k < per; k++) {
        const [b, c] = places[k], a = 1 - b - c, at = 3 * (per * f + k);
        const ends = [a * a * a, b * b * b, c * c * c];
        const sides = [3 * a * a * b, 3 * a * b * b, 3 * b * b * c, 3 * b * c * c, 3 * c * c * a, 3 * c * a * a];
        let size = 0;
        for (let d = 0; d < 3; d++) {
          const p = 9 * f + d;
          let sum = ends[0] * flat[p] + ends[1] * flat[p + 3] + ends[2] * flat[p + 6] + 6 * a * b * c * control[18 + d];
          for (let e = 0; e < 6; e++) sum += sides[e] * control[3 * e + d];
          position[at + d] = sum;
          const n = a * normals[p] + b * normals[p + 3] + c * normals[p + 6];
          normal[at + d] = n;
          size += n * n;
        }
        size = Math.sqrt(size) || 1;
        for (let d = 0; d < 3; d++) normal[at + d] /= size;
      }
    }
  }

  /** The control points of the cubic over a face: two on each side, and the middle. */
  _controls(out, p) {
    const { flat, normals } = this;
    for (let e = 0; e < 3; e++) {
      const i = p + 3 * e, j = p + 3 * ((e + 1) % 3);
      let wi = 0, wj = 0;
      for (let d = 0; d < 3; d++) {
        wi += (flat[j + d] - flat[i + d]) * normals[i + d];
        wj += (flat[i + d] - flat[j + d]) * normals[j + d];
      }
      for (let d = 0; d < 3; d++) {
        out[6 * e + d] = (2 * flat[i + d] + flat[j + d] - wi * normals[i + d]) / 3;
        out[6 * e + 3 + d] = (2 * flat[j + d] + flat[i + d] - wj * normals[j + d]) / 3;
      }
    }
    for (let d = 0; d < 3; d++) {
      let sides = 0;
      for (let e = 0; e < 6; e++) sides += out[3 * e + d];
      const corners = (flat[p + d] + flat[p + 3 + d] + flat[p + 6 + d]) / 3;
      out[18 + d] = sides / 6 + (sides / 6 - corners) / 2;
    }
  }
}
