// Lines drawn by hand: fewer points, and straight where they are nearly so.

const NEAR = 0.002; // m that a point may lie beside the line that is kept
const MOST = 64; // points
const DIGITS = 1e6;

/** The points of a line [m] that matter (Ramer, Douglas and Peucker). */
export function simplify(points, near = NEAR) {
  const kept = thin(points, near);
  if (kept.length > MOST) return simplify(points, 2 * near);
  return kept.map(([u, v]) => [Math.round(u * DIGITS) / DIGITS, Math.round(v * DIGITS) / DIGITS]);
}

function thin(points, near) {
  if (points.length < 3) return length(points) > near ? points : [];
  const first = points[0], last = points.at(-1);
  let worst = 0, at = 0;
  points.forEach((point, k) => {
    const away = distance(point, first, last);
    if (away > worst) [worst, at] = [away, k];
  });
  if (worst <= near) return thin([first, last], near);
  const head = thin(points.slice(0, at + 1), near), tail = thin(points.slice(at), near);
  return head.length && tail.length ? [...head.slice(0, -1), ...tail] : [...head, ...tail];
}

const length = (points) => (points.length < 2 ? 0 : Math.hypot(points[1][0] - points[0][0], points[1][1] - points[0][1]));

/** How far a point is from the segment between two others. */
function distance([x, y], [ax, ay], [bx, by]) {
  const dx = bx - ax, dy = by - ay, size = dx * dx + dy * dy;
  const t = size ? Math.min(Math.max(((x - ax) * dx + (y - ay) * dy) / size, 0), 1) : 0;
  return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}
