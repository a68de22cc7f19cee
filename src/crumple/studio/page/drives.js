// Sliders of driven creases: each group has one, which shows how far it is folded and sends it elsewhere.

const EVERY = 100; // ms between two wishes that are sent
const SAME = 0.5; // percent

export class Drives {
  /** Sliders in the element `box`; `send({do, group, percent})`. */
  constructor(box, send) {
    Object.assign(this, { box, send });
    this.names = "";
  }

  /** Show groups by name, each with the percent that it is folded by and the one that it goes to. */
  show(levels, isOver = false) {
    const names = Object.keys(levels);
    if (names.join("\n") !== this.names) {
      this.names = names.join("\n");
      this.box.replaceChildren(...names.map((name) => makeSlider(name, (slider) => this.ask(slider))));
      this.box.hidden = !names.length;
    }
    for (const slider of this.sliders) this.place(slider, levels[slider.dataset.group], isOver);
  }

  /** A wish was refused: sliders are where their groups are. */
  forget() {
    for (const slider of this.sliders) slider.wish = null;
  }

  get sliders() {
    return this.box.querySelectorAll("input");
  }

  /** A slider that the user has moved stays there until its group goes there, or elsewhere, or the wish is refused. */
  place(slider, [now, goal], isOver) {
    const isHeard = slider.wish && (Math.abs(goal - slider.wish.percent) < SAME || Math.abs(goal - slider.wish.before) >= SAME);
    if (isHeard || isOver) slider.wish = null;
    slider.goal = goal;
    slider.disabled = isOver;
    if (!slider.wish && !slider.isHeld && Math.abs(slider.value - goal) > SAME) slider.value = goal;
    slider.nextSibling.textContent = `${Math.round(now)} %`;
  }

  ask(slider) {
    clearTimeout(slider.timer);
    slider.timer = null;
    slider.wish = { percent: Number(slider.value), before: slider.goal };
    this.send({ do: "drive", group: slider.dataset.group, percent: slider.wish.percent });
  }
}

function makeSlider(name, ask) {
  const label = document.createElement("label"), output = document.createElement("output");
  const slider = Object.assign(document.createElement("input"), { type: "range", min: 0, max: 100, step: 1, value: 0 });
  slider.dataset.group = name;
  slider.oninput = () => {
    slider.isHeld = true;
    slider.timer ??= setTimeout(() => ask(slider), EVERY);
  };
  slider.onchange = () => {
    slider.isHeld = false;
    ask(slider);
  };
  label.append(Object.assign(document.createElement("span"), { textContent: `fold ${name}` }), slider, output);
  label.className = "drive";
  return label;
}
