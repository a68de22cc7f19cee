// Which sheet, of what, how large, how it looks.

const $ = (id) => document.getElementById(id);

export class Choices {
  /** `send(command)`, `onLook(name, picture)`, `onTrouble(line)`. */
  constructor(send, onLook, onTrouble) {
    Object.assign(this, { send, onLook, onTrouble });
    this.picture = null;
    const again = () => this.take({ name: this.name, material: $("material").value || null, ...this.sides() });
    const changes = {
      sheet: () => this.take({ name: $("sheet").value }),
      material: again,
      width: again,
      height: again,
      look: () => this.look($("look").value),
      file: () => this.open($("file").files[0]),
    };
    for (const [id, act] of Object.entries(changes)) {
      $(id).onchange = () => {
        act();
        $(id).blur(); // keys are the page's again: a list with the focus would take C for "card"
      };
    }
  }

  /** Ask for another sheet. */
  take(wish) {
    this.send({ do: "sheet", ...wish });
  }

  /** Sides as the user wants them [m], where the sheet has any. */
  sides() {
    if ($("width").disabled) return {};
    return { sides: [$("width").value / 100, $("height").value / 100] };
  }

  /** Another sheet is on the table. */
  show(name, extent) {
    const option = [...$("sheet").options].find((one) => one.value === name), isOther = this.name !== name;
    this.name = option ? name : "note";
    $("sheet").value = option ? name : "";
    $("material").disabled = !option;
    $("width").disabled = $("height").disabled = !option || "fixed" in option.dataset;
    [$("width").value, $("height").value] = extent.map((side) => Number((100 * side).toFixed(1)));
    if (isOther) {
      this.look(option?.dataset.look ?? "paper");
      $("material").value = "";
    }
    return isOther;
  }

  look(name) {
    if (name === "picture" && !this.picture) {
      $("file").click();
      return;
    }
    $("look").value = name;
    this.onLook(name, this.picture);
  }

  /** The user's own picture: it is read here and never leaves the browser. */
  async open(file) {
    if (!file) return;
    try {
      this.picture = await createImageBitmap(file);
    } catch {
      return this.onTrouble(`${file.name}: is no picture that this browser can read`);
    }
    this.look("picture");
  }
}
