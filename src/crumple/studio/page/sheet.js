// The sheet as smooth patches with a print on it, and where a ray meets it.

import {
  BufferAttribute, BufferGeometry, DynamicDrawUsage, LineBasicMaterial, LineSegments, Mesh, MeshStandardMaterial, Vector3,
} from "./vendor/three.min.js";
import { dress } from "./looks.js";
import { Facets } from "./facets.js";
import { makeMesh, Patches } from "./patch.js";

const CREASE = 35; // degrees of turn from which on an edge is drawn sharp
const FRONT_SIDE = 0, BACK_SIDE = 1;

export class Sheet {
  /** `room`: what a sheet that shines mirrors. */
  constructor(scene, room) {
    this.room = room;
    this.geometry = new BufferGeometry();
    this.sides = [FRONT_SIDE, BACK_SIDE].map((side) => {
      const mesh = new Mesh(this.geometry, new MeshStandardMaterial({ side, shadowSide: 2 }));
      mesh.frustumCulled = false;
      mesh.receiveShadow = true;
      scene.add(mesh);
      return mesh;
    });
    this.sides[0].castShadow = true;
    this.wire = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ color: "#3a4650", transparent: true, opacity: 0.6 }));
    this.wire.frustumCulled = false;
    scene.add(this.wire);
    this.level = 5;
    this.look = "paper";
    this.picture = null;
  }

  /** Take a new mesh: its faces, pattern, the node of each vertex and the sheet of each face; with normals it is drawn as it is. */
  setMesh({ faces, u, node, sheet, normal }) {
    this.arrays = { faces: faces.slice(), u: u.slice(), node: node.slice(), sheet: sheet.slice() };
    this.isSmooth = Boolean(normal);
    this.mesh = makeMesh(this.arrays.faces, this.arrays.node, this.arrays.u);
    this.measure(this.arrays.u);
    this.build();
  }

  /** How finely faces are drawn: into `level`² triangles. */
  setLevel(level) {
    if (level === this.level) return;
    this.level = level;
    if (this.mesh) this.build();
  }

  build() {
    this.patches = this.isSmooth ? new Facets(this.arrays) : new Patches(this.mesh, this.level);
    this.geometry.dispose();
    for (const name of ["position", "normal"]) {
      const attribute = new BufferAttribute(this.patches[name], 3);
      attribute.setUsage(DynamicDrawUsage);
      this.geometry.setAttribute(name, attribute);
    }
    this.geometry.setAttribute("uv", new BufferAttribute(this.onPrint(this.patches.u), 2));
    this.geometry.setIndex(new BufferAttribute(this.patches.index, 1));
    this.buildWire();
    this.setLook(this.look);
  }

  /** Where the pattern lies [m]. */
  measure(u) {
    const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
    for (let k = 0; k < u.length; k++) {
      low[k % 2] = Math.min(low[k % 2], u[k]);
      high[k % 2] = Math.max(high[k % 2], u[k]);
    }
    this.low = low;
    this.extent = [0, 1].map((d) => Math.max(high[d] - low[d], 1e-6));
  }

  /** Places on the print for places of the pattern: it moves with the sheet and is never resampled. */
  onPrint(u) {
    const uv = new Float32Array(u.length);
    for (let k = 0; k < u.length; k++) uv[k] = (u[k] - this.low[k % 2]) / this.extent[k % 2];
    return uv;
  }

  buildWire() {
    const { count } = this.mesh, index = new Uint32Array(6 * count);
    for (let f = 0; f < count; f++) {
      for (let k = 0; k < 3; k++) {
        index[6 * f + 2 * k] = 3 * f + k;
        index[6 * f + 2 * k + 1] = 3 * f + ((k + 1) % 3);
      }
    }
    this.wire.geometry.dispose();
    this.wire.geometry.setAttribute("position", new BufferAttribute(this.patches.flat, 3));
    this.wire.geometry.setIndex(new BufferAttribute(index, 1));
  }

  setLook(name, picture = this.picture) {
    this.look = name;
    this.picture = picture;
    this.wire.visible = name === "mesh";
    if (this.extent) dress(this.sides.map((side) => side.material), name, this.extent, picture, this.room);
  }

  /** Show the sheet with vertices at `x`. */
  place(x) {
    this.patches.place(x, CREASE);
    this.geometry.getAttribute("position").needsUpdate = true;
    this.geometry.getAttribute("normal").needsUpdate = true;
    if (this.wire.visible) this.wire.geometry.getAttribute("position").needsUpdate = true;
  }

  /** Where a ray meets the sheet first: `point`, `u` on the pattern, its `sheet`, whether the `front` is seen; or null. */
  hit(ray) {
    if (!this.patches) return null;
    const { position, index, u } = this.patches, perFace = index.length / this.mesh.count;
    const corners = [new Vector3(), new Vector3(), new Vector3()], found = new Vector3();
    let best = null;
    for (let t = 0; t < index.length; t += 3) {
      corners.forEach((corner, k) => corner.fromArray(position, 3 * index[t + k]));
      if (!ray.intersectTriangle(...corners, false, found)) continue;
      const distance = found.distanceTo(ray.origin);
      if (best && distance >= best.distance) continue;
      const weights = barycentric(found, corners);
      best = { distance, point: found.clone(), front: isFront(ray, corners), sheet: this.arrays.sheet[Math.floor(t / perFace)] };
      best.u = [0, 1].map((d) => weights.reduce((sum, w, k) => sum + w * u[2 * index[t + k] + d], 0));
    }
    return best;
  }
}

function isFront(ray, [a, b, c]) {
  return b.clone().sub(a).cross(c.clone().sub(a)).dot(ray.direction) < 0;
}

/** Weights of the corners at a point of a triangle. */
function barycentric(point, [a, b, c]) {
  const across = (p, q) => p.clone().sub(point).cross(q.clone().sub(point)).length();
  const weights = [across(b, c), across(c, a), across(a, b)], sum = weights[0] + weights[1] + weights[2] || 1;
  return weights.map((w) => w / sum);
}
