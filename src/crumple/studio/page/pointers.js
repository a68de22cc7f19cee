// Pointers as hands: they take the sheet, push obstacles, or draw lines on the sheet to crease or cut it.

import { Vector3 } from "./vendor/three.min.js";
import { simplify } from "./lines.js";

const DEPTH = 0.001; // m that a hand goes away per pixel, with shift
const NARROWER = 6; // halvings with which the border of the sheet is found

export class Pointers {
  /** `send(command)`; `tools` has `tool` (hand, crease, cut), `isPinning`, `isDeep`, `angle` of creases [degrees]. */
  constructor(table, tools, send) {
    Object.assign(this, { table, tools, send });
    this.grips = new Map(); // by pointer: what it does, and where it was last
    const { canvas } = table, on = (name, act) => canvas.addEventListener(name, act, { capture: true });
    on("pointerdown", (event) => this.down(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", (event) => this.up(event));
    on("pointercancel", (event) => this.up(event));
    on("contextmenu", (event) => event.preventDefault());
  }

  down(event) {
    if (event.button !== 0) return; // the camera's
    const grip = this.tools.tool === "hand" ? this.take(event) : this.begin(event);
    if (!grip) return;
    event.stopImmediatePropagation();
    this.table.canvas.setPointerCapture(event.pointerId);
    this.table.canvas.classList.add("holds");
    this.grips.set(event.pointerId, { ...grip, x: event.clientX, y: event.clientY });
  }

  /** Take the sheet, or an obstacle that lies before it. */
  take({ clientX, clientY, pointerId: hand }) {
    const ray = this.table.ray(clientX, clientY), hit = this.table.sheet.hit(ray), body = this.table.hitObstacle();
    if (body && !(hit?.distance < body.distance)) {
      return { kind: "push", obstacle: body.name, point: body.point, offset: new Vector3(...body.middle).sub(body.point) };
    }
    if (!hit) return null;
    this.send({ do: "grab", hand, origin: ray.origin.toArray(), direction: ray.direction.toArray() });
    return { kind: "hold", point: hit.point };
  }

  /** Begin to draw a line: beside the sheet, too, so that it can come from outside. */
  begin({ clientX, clientY }) {
    return { kind: "draw", tool: this.tools.tool, marks: [], line: this.onSheet(clientX, clientY) ?? [] };
  }

  move(event) {
    const grip = this.grips.get(event.pointerId);
    if (!grip) return;
    event.stopImmediatePropagation();
    if (grip.kind === "draw") this.extend(grip, event);
    else this.carry(grip, event);
    grip.x = event.clientX;
    grip.y = event.clientY;
  }

  /** Move what is held in the plane of the screen, or away from it. */
  carry(grip, event) {
    const { camera } = this.table, facing = camera.getWorldDirection(new Vector3());
    if (event.shiftKey || this.tools.isDeep) {
      grip.point.addScaledVector(facing, DEPTH * (grip.y - event.clientY));
    } else {
      const ray = this.table.ray(event.clientX, event.clientY);
      const depth = facing.dot(grip.point.clone().sub(ray.origin)) / facing.dot(ray.direction);
      grip.point.copy(ray.origin).addScaledVector(ray.direction, depth);
    }
    const hand = event.pointerId;
    if (grip.kind === "hold") this.send({ do: "move", hand, position: grip.point.toArray() });
    else this.send({ do: "push", hand, obstacle: grip.obstacle, position: grip.point.clone().add(grip.offset).toArray() });
  }

  /** Go on with a line; where it leaves or enters the sheet it gets a point on the border. */
  extend(grip, { clientX: x, clientY: y }) {
    const hit = this.onSheet(x, y), wasOn = grip.line.length > 0 && !grip.isOver;
    if (grip.isOver) return;
    if (hit && !wasOn) grip.line.push(...this.border(x, y, grip.x, grip.y), ...hit);
    else if (hit && hit[0].sheet === grip.line[0].sheet) grip.line.push(...hit);
    else if (!hit && wasOn) {
      grip.line.push(...this.border(grip.x, grip.y, x, y));
      grip.isOver = true;
    }
    this.table.marks.draw(grip.line.map((one) => one.point), grip.tool);
    this.table.isStale = true;
  }

  onSheet(x, y) {
    const hit = this.table.sheet.hit(this.table.ray(x, y));
    return hit && [hit];
  }

  /** The last place of the sheet on the way from (x, y), which is on it, to (a, b), which is not. */
  border(x, y, a, b) {
    let found = [], inside = 0, outside = 1;
    for (let k = 0; k < NARROWER; k++) {
      const t = (inside + outside) / 2, hit = this.onSheet(x + t * (a - x), y + t * (b - y));
      if (hit) [found, inside] = [hit, t];
      else outside = t;
    }
    return found;
  }

  up(event) {
    const grip = this.grips.get(event.pointerId);
    if (!grip) return;
    this.grips.delete(event.pointerId);
    if (!this.grips.size) this.table.canvas.classList.remove("holds");
    if (grip.kind === "draw") this.finish(grip, event.type === "pointercancel");
    else this.send({ do: grip.kind === "hold" && this.tools.isPinning ? "pin" : "release", hand: event.pointerId });
  }

  finish({ tool, line }, isCancelled) {
    this.table.marks.draw([], tool);
    this.table.isStale = true;
    const points = simplify(line.map((one) => one.u));
    if (isCancelled || points.length < 2) return;
    const { sheet, front } = line[0];
    const turn = (this.tools.angle * Math.PI) / 180, towards = front ? -turn : turn; // a valley for who looks at it
    const command = tool === "cut" ? { do: "cut" } : { do: "press", angle: towards };
    this.send({ ...command, points, sheet });
  }
}
