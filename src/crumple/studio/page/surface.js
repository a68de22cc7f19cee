// Triangles that do not share corners, so that each corner has its own normal and colour.

/** Write the world position of each corner into `out`. */
export function placeCorners(out, mesh, x) {
  const { corners } = mesh;
  for (let c = 0; c < corners.length; c++) {
    const from = 3 * corners[c];
    out[3 * c] = x[from];
    out[3 * c + 1] = x[from + 1];
    out[3 * c + 2] = x[from + 2];
  }
}

/** Write the place of each corner in the flat pattern into `out`. */
export function placePattern(out, mesh) {
  for (let c = 0; c < mesh.faces.length; c++) {
    out[3 * c] = mesh.pattern[2 * mesh.faces[c]];
    out[3 * c + 1] = mesh.pattern[2 * mesh.faces[c] + 1];
    out[3 * c + 2] = 0;
  }
}

/** Twice the area times the normal of each face of corners `p`. */
function faceNormals(p, count) {
  const normals = new Float32Array(3 * count);
  for (let f = 0; f < count; f++) {
    const a = 9 * f;
    const ex = p[a + 3] - p[a], ey = p[a + 4] - p[a + 1], ez = p[a + 5] - p[a + 2];
    const fx = p[a + 6] - p[a], fy = p[a + 7] - p[a + 1], fz = p[a + 8] - p[a + 2];
    normals[3 * f] = ey * fz - ez * fy;
    normals[3 * f + 1] = ez * fx - ex * fz;
    normals[3 * f + 2] = ex * fy - ey * fx;
  }
  return normals;
}

/**
 * Write a normal for each corner into `out`: the mean over the faces around its node that turn from its own face by
 * less than `angle` degrees. 0 is flat shading, 180 smooth everywhere.
 */
export function shade(out, mesh, p, angle) {
  const count = mesh.count, normals = faceNormals(p, count), size = new Float32Array(count);
  for (let f = 0; f < count; f++) size[f] = Math.hypot(normals[3 * f], normals[3 * f + 1], normals[3 * f + 2]);
  const least = Math.cos((angle * Math.PI) / 180);
  for (let c = 0; c < 3 * count; c++) {
    const f = (c / 3) | 0, nx = normals[3 * f], ny = normals[3 * f + 1], nz = normals[3 * f + 2];
    let sx = nx, sy = ny, sz = nz;
    if (angle > 0) {
      const node = mesh.corners[c];
      for (let k = mesh.begin[node]; k < mesh.begin[node + 1]; k++) {
        const g = (mesh.around[k] / 3) | 0;
        if (g === f) continue;
        const mx = normals[3 * g], my = normals[3 * g + 1], mz = normals[3 * g + 2];
        if (nx * mx + ny * my + nz * mz >= least * size[f] * size[g]) {
          sx += mx;
          sy += my;
          sz += mz;
        }
      }
    }
    const length = Math.hypot(sx, sy, sz) || 1;
    out[3 * c] = sx / length;
    out[3 * c + 1] = sy / length;
    out[3 * c + 2] = sz / length;
  }
}

/** The face of the pattern that contains (u, v), or -1. */
export function faceAt(mesh, u, v) {
  const { faces, pattern } = mesh;
  for (let f = 0; f < mesh.count; f++) {
    let inside = true;
    for (let k = 0; k < 3 && inside; k++) {
      const a = 2 * faces[3 * f + k], b = 2 * faces[3 * f + ((k + 1) % 3)];
      const cross = (pattern[b] - pattern[a]) * (v - pattern[a + 1]) - (pattern[b + 1] - pattern[a + 1]) * (u - pattern[a]);
      inside = cross >= -1e-12;
    }
    if (inside) return f;
  }
  return -1;
}

/** The middle of a face in the pattern. */
export function middleOf(mesh, face) {
  const at = [0, 0];
  for (let k = 0; k < 3; k++) {
    at[0] += mesh.pattern[2 * mesh.faces[3 * face + k]] / 3;
    at[1] += mesh.pattern[2 * mesh.faces[3 * face + k] + 1] / 3;
  }
  return at;
}

/** The place in the pattern of a `point` of a face whose corners are at `p`, nine numbers. */
export function placeIn(mesh, face, p, point) {
  const weights = weightsIn(p, point), at = [0, 0];
  for (let k = 0; k < 3; k++) for (let d = 0; d < 2; d++) at[d] += weights[k] * mesh.pattern[2 * mesh.faces[3 * face + k] + d];
  return at;
}

/** Weights of the three corners at `p` of a point, by areas: outside of the triangle those of its foot in the plane. */
export function weightsIn(p, point) {
  const e = [3, 4, 5].map((k) => p[k] - p[k - 3]), f = [6, 7, 8].map((k) => p[k] - p[k - 6]), g = point.map((v, d) => v - p[d]);
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const ee = dot(e, e), ef = dot(e, f), ff = dot(f, f), ge = dot(g, e), gf = dot(g, f), size = ee * ff - ef * ef || 1e-300;
  const b = (ff * ge - ef * gf) / size, c = (ee * gf - ef * ge) / size;
  return [1 - b - c, b, c];
}
