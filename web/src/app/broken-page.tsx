import { initialLanguage, textIn, useText } from "@/text/text";
import { Button } from "@/ui/button";
import { Notice } from "@/ui/notice";

const reload = () => window.location.reload();

/** Shown in place of a chat that cannot be rendered; its run may still be in progress. */
export function BrokenChat({ onStop, onNew }: { onStop: () => void; onNew: () => void }) {
  const t = useText();
  return (
    <div className="mx-auto w-full max-w-180 p-4">
      <Notice title={t.undrawableChat} hint={t.undrawableChatHint}>
        <Button onClick={reload}>{t.reload}</Button>
        <Button onClick={onStop}>{t.stop}</Button>
        <Button onClick={onNew}>{t.newChat}</Button>
      </Notice>
    </div>
  );
}

/** Shown in place of a page that cannot be rendered at all. */
export function BrokenPage() {
  const t = textIn(initialLanguage());
  return (
    <div className="mx-auto w-full max-w-180 p-4">
      <Notice title={t.undrawablePage} hint={t.undrawableChatHint}>
        <Button onClick={reload}>{t.reload}</Button>
      </Notice>
    </div>
  );
}
