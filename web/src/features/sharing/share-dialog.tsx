import { Link2, Trash2 } from "lucide-react";
import { useCallback, useState } from "react";
import type { Share } from "@/protocol/session";
import { formatMoment } from "@/text/format";
import { LANGUAGES, useLanguage, useText } from "@/text/text";
import { addShare, listShares, revokeShare } from "@/transport/shares";
import { Button, IconButton } from "@/ui/button";
import { CopyButton } from "@/ui/copy-button";
import { Dialog } from "@/ui/dialog";
import { Switch } from "@/ui/field";
import { Load } from "@/ui/load";
import { ErrorLine } from "@/ui/notice";

interface ShareDialogProps {
  sessionId: string;
  /** The address of the page that shows a link. */
  addressOf: (token: string) => string;
  onClose: () => void;
}

/** The links of a chat: create one, copy it, revoke it. */
export function ShareDialog({ sessionId, addressOf, onClose }: ShareDialogProps) {
  const t = useText();
  const [isWithWork, setWithWork] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const load = useCallback(() => listShares(sessionId), [sessionId]);
  const attempt = async (work: () => Promise<unknown>, reload: () => Promise<void>) => {
    setError(null);
    await work().catch(setError);
    await reload();
  };
  return (
    <Dialog title={t.shareTitle} size="medium" onClose={onClose}>
      <p className="mb-4 text-[13px] text-soft">{t.shareHint}</p>
      <Load load={load}>
        {(shares, reload) => (
          <div className="space-y-4">
            <Switch name={t.shareWork} hint={t.shareWorkHint} isOn={isWithWork} onChange={setWithWork} />
            <Button look="primary" onClick={() => void attempt(() => addShare(sessionId, isWithWork), reload)}>
              <Link2 size={14} aria-hidden="true" /> {t.createLink}
            </Button>
            {error ? <ErrorLine error={error} /> : null}
            {shares.length === 0 ? null : (
              <ul aria-label={t.links}>
                {shares.map((share) => (
                  <LinkRow
                    key={share.token}
                    share={share}
                    address={addressOf(share.token)}
                    onRevoke={() => attempt(() => revokeShare(sessionId, share.token), reload)}
                  />
                ))}
              </ul>
            )}
          </div>
        )}
      </Load>
    </Dialog>
  );
}

function LinkRow({ share, address, onRevoke }: { share: Share; address: string; onRevoke: () => Promise<void> }) {
  const t = useText();
  const { locale } = LANGUAGES[useLanguage()];
  return (
    <li className="flex items-center gap-2 border-t border-line py-2.5 first:border-t-0">
      <div className="min-w-0 flex-1">
        <a
          href={address}
          target="_blank"
          rel="noreferrer"
          className="block truncate font-mono text-[12.5px] text-accent underline decoration-line-strong underline-offset-2"
        >
          {address}
        </a>
        <p className="text-[12px] text-faint">
          {formatMoment(share.createdAt, locale)}
          {share.isWithWork ? `${t.comma}${t.withWork}` : ""}
        </p>
      </div>
      <CopyButton text={address} />
      <IconButton label={t.revokeLink} onClick={() => void onRevoke()}>
        <Trash2 size={15} />
      </IconButton>
    </li>
  );
}
