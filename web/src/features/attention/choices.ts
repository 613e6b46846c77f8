/** How the page may call a person who looks elsewhere. */

import { Store } from "@/ui/store";

const KEY = "dovetail.attention";

export interface AttentionChoices {
  /** Whether the browser shows a notification when something waits. */
  readonly notifies: boolean;
  readonly sounds: boolean;
  /** What the browser allows; `unsupported` if it has no notifications. */
  readonly permission: NotificationPermission | "unsupported";
}

export class AttentionChoiceStore extends Store<AttentionChoices> {
  constructor() {
    super({ notifies: false, sounds: false, permission: permission(), ...stored() });
    // Another tab has changed them.
    window.addEventListener("storage", (event) => {
      if (event.key === KEY) this.change({ ...stored(), permission: permission() });
    });
  }

  /** Turns notifications on or off; the browser asks for its permission, so a person must have clicked. */
  async setNotifies(notifies: boolean): Promise<void> {
    if (notifies && permission() === "default") await Notification.requestPermission();
    this.change({ permission: permission() });
    this.#keep({ notifies: notifies && permission() === "granted" });
  }

  setSounds(sounds: boolean): void {
    this.#keep({ sounds });
  }

  #keep(change: Partial<AttentionChoices>): void {
    this.change(change);
    const { notifies, sounds } = this.read();
    localStorage.setItem(KEY, JSON.stringify({ notifies, sounds }));
  }
}

function permission(): AttentionChoices["permission"] {
  return "Notification" in window ? Notification.permission : "unsupported";
}

function stored(): Partial<AttentionChoices> {
  try {
    const { notifies, sounds } = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return { notifies: notifies === true && permission() === "granted", sounds: sounds === true };
  } catch {
    return {};
  }
}
