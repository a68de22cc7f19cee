// Paper in your hands: puts the page together.

import { Choices } from "./choices.js";
import { Drives } from "./drives.js";
import { joined } from "./facets.js";
import { Film, NO_FILM, offer, savePicture } from "./film.js";
import { Link } from "./link.js";
import { Motion } from "./motion.js";
import { Pointers } from "./pointers.js";
import { isSoftware, Quality } from "./quality.js";
import { Sound } from "./sound.js";
import { Table } from "./table.js";
import { Tools } from "./tools.js";
import { Vector3 } from "./vendor/three.min.js";

const $ = (id) => document.getElementById(id);
const HELD = 4000; // ms that a message is shown

class Page {
  constructor() {
    const canvas = $("canvas"), send = (command) => this.link.send(command);
    this.table = new Table(canvas, isSoftware());
    this.quality = new Quality(this.table);
    this.motion = new Motion();
    this.sound = new Sound();
    this.film = new Film(canvas);
    this.tools = new Tools(send, this.acts(), () => this.table.camera.getWorldDirection(new Vector3()));
    this.choices = new Choices(send, (name, picture) => this.table.setLook(name, picture), (line) => this.flash(line));
    this.drives = new Drives($("drives"), send);
    this.pointers = new Pointers(this.table, this.tools, send);
    this.link = new Link({ onPacket: (values, arrays) => this.receive(values, arrays), onNews: (news) => this.hear(news) });
    this.frame = -1;
    canvas.addEventListener("pointerdown", () => this.sound.wake(), { capture: true });
    new ResizeObserver(() => this.table.resize()).observe(canvas);
    requestAnimationFrame((now) => this.loop(now));
  }

  /** What buttons do that the sheet is not asked for. */
  acts() {
    return {
      mute: () => $("mute").setAttribute("aria-pressed", (this.sound.isOn = !this.sound.isOn)),
      picture: () => savePicture($("canvas"), () => this.table.draw(true), "crumple.png"),
      film: () => this.toggleFilm(),
      structure: () => $("structure").setAttribute("aria-pressed", this.table.toggleOverlay()),
    };
  }

  toggleFilm() {
    if (this.film.isRunning) return this.film.stop();
    if (this.film.obstacle) return this.flash(this.film.obstacle);
    this.film.start((blob, ending) => {
      $("film").setAttribute("aria-pressed", false);
      if (blob.size) offer(blob, `crumple.${ending}`);
      else this.flash(NO_FILM);
    });
    $("film").setAttribute("aria-pressed", true);
  }

  receive(values, arrays) {
    if (arrays.faces) {
      this.table.setSheet(arrays);
      this.tools.refuse(values.refused, Boolean(arrays.lines));
      this.table.setObstacles(values.obstacles, arrays.obstacle_faces);
      this.motion.clear();
      if (this.choices.show(values.name, this.table.sheet.extent)) this.table.fit(this.table.sheet.extent);
    }
    if (arrays.obstacle_x) this.table.placeObstacles(arrays.obstacle_x);
    if (values.version > 0) this.tell("");
    this.motion.add(joined(arrays), performance.now());
    this.table.showFloor(values.floor);
    if (this.table.marks.placeHands(values.hands)) this.table.isStale = true;
    values.events.forEach((event) => this.happen(event));
    this.tools.show(values);
    this.drives.show(values.drives);
    document.body.dataset.frame = this.frame = values.frame;
  }

  happen(event) {
    if (event.kind === "trouble") this.flash("That was too much: the sheet has come to rest.");
    else if (event.kind === "slipped") this.flash("That was too much: the sheet has slipped out of your hand.");
    else if (event.kind === "anew") this.flash("That was too much: nothing that was done can go on, so the sheet begins anew.");
    else if (event.kind === "fallen") this.flash("The sheet has fallen off the table: undo (Z) or reset (R) brings it back.");
    else if (event.kind === "forgotten") this.flash("So much was done that it cannot be replayed any more; reset (R) begins anew.");
    else if (event.kind === "saved") this.flash(`saved in ${event.message}`);
    else if (event.kind === "replayed") this.flash("That is what you did.");
    else this.sound.play(event);
  }

  hear(news) {
    if (news.error) {
      this.flash(news.error);
      this.drives.forget();
    }
    if (news.waiting) this.tell(`One moment: ${news.waiting}.`);
    if (news.failed) this.tell(news.failed);
    if (news.late && $("notice").hidden) this.tell("One moment: the sheet is busy.");
    if (news.lost) this.tell("The connection is lost. It is tried again…");
  }

  /** A message that stays. */
  tell(text) {
    $("notice").hidden = !text;
    $("notice").textContent = text;
  }

  /** A message in the line of instructions, for a while. */
  flash(text) {
    $("said").textContent = text;
    document.body.classList.add("says");
    clearTimeout(this.flashing);
    this.flashing = setTimeout(() => document.body.classList.remove("says"), HELD);
  }

  loop(now) {
    const x = this.motion.next(performance.now());
    if (x) this.table.place(x);
    const isDrawn = this.table.draw();
    if (isDrawn && this.wasDrawn && !this.film.isRunning) this.quality.judge(now - this.last); // a film has one size
    this.wasDrawn = isDrawn;
    this.last = now;
    requestAnimationFrame((later) => this.loop(later));
  }
}

try {
  window.page = new Page();
} catch (error) {
  $("notice").hidden = false;
  $("notice").textContent = `This browser cannot show the sheet: ${error.message}`;
  throw error;
}
