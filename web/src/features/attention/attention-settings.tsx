import type { AttentionChoiceStore } from "@/features/attention/choices";
import { useText } from "@/text/text";
import { Switch } from "@/ui/field";
import { useStore } from "@/ui/store";

/** How the page may call a person who looks elsewhere; the browser is asked for its permission by a click only. */
export function AttentionSettings({ store }: { store: AttentionChoiceStore }) {
  const t = useText();
  const { notifies, sounds, permission } = useStore(store);
  const hints = {
    granted: t.notifyHint,
    default: t.notifyHint,
    denied: t.notifyDenied,
    unsupported: t.notifyUnsupported,
  };
  return (
    <>
      <p className="text-[13px] text-soft">{t.attentionSettings}</p>
      <Switch
        name={t.notifySwitch}
        hint={hints[permission]}
        isOn={notifies}
        disabled={permission === "denied" || permission === "unsupported"}
        onChange={(isOn) => void store.setNotifies(isOn)}
      />
      <Switch
        name={t.soundSwitch}
        hint={t.soundHint}
        isOn={sounds}
        onChange={(isOn) => {
          store.setSounds(isOn);
          // Heard once, so that a person knows it; a browser allows sounds only after a click.
          if (isOn) void import("@/features/attention/call").then(({ chime }) => chime().catch(() => undefined));
        }}
      />
    </>
  );
}
