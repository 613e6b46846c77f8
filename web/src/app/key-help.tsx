import { listKeys } from "@/app/shortcuts";
import { useText } from "@/text/text";
import { Dialog } from "@/ui/dialog";

/** The keys of the page and what they do. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const t = useText();
  return (
    <Dialog title={t.keyboardHelp} onClose={onClose}>
      <dl className="divide-y divide-line">
        {listKeys(t).map(([keys, name]) => (
          <div key={keys} className="flex items-center justify-between gap-4 py-2">
            <dt className="text-[13.5px]">{name}</dt>
            <dd>
              <kbd className="rounded-md border border-line bg-sunken px-1.5 py-0.5 font-sans text-[12px] text-soft">
                {keys}
              </kbd>
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
