/** Calls a person who looks elsewhere: a notification and a short sound. Loaded when something is due. */

import type { AttentionChoices } from "@/features/attention/choices";
import { wordsOf } from "@/features/attention/waiting-store";
import type { WaitingAsk } from "@/protocol/feed";
import type { Text } from "@/text/text";

export function callPerson(
  asks: readonly WaitingAsk[],
  choices: AttentionChoices,
  t: Text,
  onOpen: (ask: WaitingAsk) => void,
): void {
  if (choices.notifies) for (const ask of asks) notify(ask, t, onOpen);
  if (choices.sounds) void chime();
}

function notify(ask: WaitingAsk, t: Text, onOpen: (ask: WaitingAsk) => void): void {
  const title = t.waitsForYou(wordsOf(ask, t));
  const notification = new Notification(title, { body: ask.chatTitle, tag: ask.id, icon: "/favicon-waiting.svg" });
  notification.onclick = () => {
    window.focus();
    notification.close();
    onOpen(ask);
  };
}

/** Two soft notes. */
export async function chime(): Promise<void> {
  const audio = new AudioContext();
  try {
    await audio.resume();
    const begin = audio.currentTime;
    for (const [place, pitch] of [587, 784].entries()) {
      const tone = audio.createOscillator();
      const volume = audio.createGain();
      const start = begin + place * 0.14;
      tone.frequency.value = pitch;
      volume.gain.setValueAtTime(0, start);
      volume.gain.linearRampToValueAtTime(0.12, start + 0.02);
      volume.gain.exponentialRampToValueAtTime(0.001, start + 0.5);
      tone.connect(volume).connect(audio.destination);
      tone.start(start);
      tone.stop(start + 0.5);
    }
    await new Promise((resolve) => setTimeout(resolve, 800));
  } finally {
    await audio.close();
  }
}
