/** The agent and the model that were chosen last in this browser: new chats begin with them. */

import type { ChoiceDefaults } from "@/features/chat/chat-options";
import { optionalText, record } from "@/protocol/shapes";

const KEY = "dovetail.choice";

function stored(): Record<string, unknown> {
  try {
    return record(JSON.parse(localStorage.getItem(KEY) ?? "{}"));
  } catch {
    return {};
  }
}

export const lastChoice: ChoiceDefaults = {
  read() {
    const [agent, model] = [optionalText(stored()["agent"]), optionalText(stored()["model"])];
    return {
      ...(agent === null ? {} : { agent }),
      ...(model === null ? {} : { model }),
      time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    };
  },
  keep({ agent, model }) {
    const chosen = { ...(agent === undefined ? {} : { agent }), ...(model === undefined ? {} : { model }) };
    if (Object.keys(chosen).length > 0) localStorage.setItem(KEY, JSON.stringify({ ...stored(), ...chosen }));
  },
};
