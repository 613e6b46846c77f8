import { initialLanguage, textIn, useText } from "@/text/text";
import { Button } from "@/ui/button";
import { Logo } from "@/ui/logo";
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

/** Shown in place of a chat that the server does not know, or does not show to this person. */
export function MissingChat({ onNew }: { onNew: () => void }) {
  const t = useText();
  return (
    <div className="mx-auto flex w-full max-w-120 flex-1 flex-col items-center justify-center px-4 pb-[12vh] text-center">
      <Logo size={44} />
      <h2 className="mt-5 text-[20px] leading-tight font-semibold tracking-[-0.015em] text-balance">{t.missingChat}</h2>
      <p className="mt-2 text-soft text-pretty">{t.missingChatHint}</p>
      <Button look="primary" className="mt-6" onClick={onNew}>
        {t.newChat}
      </Button>
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
