// Buttons and keys of the page.

const $ = (id) => document.getElementById(id);
const KEYS = {
  z: "undo", y: "redo", r: "reset", " ": "pause", s: "slow", g: "gravity", f: "floor", u: "unpin", p: "pin", d: "depth",
  l: "iron", m: "mute", i: "picture", v: "film", h: "hand", escape: "hand", c: "crease", x: "cut", w: "wind", o: "structure",
};
const TOOLS = ["hand", "crease", "cut"];
const CONTROLS = { press: ["crease", "angle"], cut: ["cut"], flatten: ["iron"] }; // of what an engine may refuse
const BREEZE = 2.5; // m/s
const isPressed = (id) => $(id).getAttribute("aria-pressed") === "true";
const press = (id, pressed) => $(id).setAttribute("aria-pressed", pressed);

export class Tools {
  /** `send(command)`; `acts`: what buttons do that the sheet is not asked for, by id; `heading()`: where wind blows to. */
  constructor(send, acts, heading) {
    Object.assign(this, { send, heading });
    this.tool = "hand";
    const own = {
      iron: () => send({ do: "iron", fraction: 1 }),
      pin: () => press("pin", !isPressed("pin")),
      depth: () => press("depth", !isPressed("depth")),
      wind: () => this.blow(isPressed("wind") ? 0 : BREEZE),
      more: () => this.open($("panel").hidden),
      ...Object.fromEntries(TOOLS.map((name) => [name, () => this.choose(name)])),
      ...acts,
    };
    for (const name of ["undo", "redo", "reset", "pause", "slow", "gravity", "floor", "unpin", "save", "replay"]) own[name] ??= () => send({ do: name });
    this.acts = own;
    for (const [name, act] of Object.entries(own)) $(name)?.addEventListener("click", act);
    $("breeze").addEventListener("change", () => this.blow(Number($("breeze").value)));
    window.addEventListener("keydown", (event) => this.key(event));
    if (matchMedia("(min-width: 900px)").matches) this.open(true);
  }

  get isPinning() {
    return isPressed("pin");
  }

  get isDeep() {
    return isPressed("depth");
  }

  get angle() {
    return Number($("angle").value);
  }

  choose(name) {
    this.tool = name;
    for (const one of TOOLS) press(one, one === name);
    document.body.dataset.tool = name;
  }

  open(isOpen) {
    $("panel").hidden = !isOpen;
    $("more").setAttribute("aria-expanded", isOpen);
  }

  /** Wind away from the eye, so fast [m/s]. */
  blow(speed) {
    $("breeze").value = speed;
    press("wind", speed > 0);
    const { x, y } = this.heading(), size = Math.hypot(x, y) || 1;
    this.send({ do: "wind", velocity: [(speed * x) / size, (speed * y) / size, 0] });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target.matches("input:not([type=range]), select")) return; // it is typed into
    if (event.target.matches("button, summary") && [" ", "Enter"].includes(event.key)) return; // it works the control
    const name = KEYS[event.key.toLowerCase()], act = this.acts[name];
    if (!act || $(name)?.hidden) return;
    event.preventDefault();
    act();
  }

  /** Hide what this sheet cannot do, by the reasons `refused`, and the button for its structure where it `has` none. */
  refuse(refused, has) {
    for (const [action, ids] of Object.entries(CONTROLS)) {
      for (const id of ids) ($(id).closest("label") ?? $(id)).hidden = action in refused;
    }
    $("structure").hidden = !has;
    if ($(this.tool).hidden) this.choose("hand");
  }

  /** Show what the sheet says of itself. */
  show(values) {
    $("undo").disabled = !values.undo;
    $("redo").disabled = !values.redo;
    press("pause", values.paused);
    press("slow", values.pace < 1);
    press("gravity", values.gravity);
    press("floor", values.floor);
    press("replay", values.replaying > 0);
    press("wind", values.wind);
    $("status").textContent = `${values.faces} faces  ${values.time.toFixed(2)} s`;
  }
}
