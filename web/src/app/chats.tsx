import { lazy, Suspense, useState } from "react";
import { addressOf } from "@/app/route";
import type { Services } from "@/app/services";
import { SessionList } from "@/features/sessions/session-list";
import { exportAddress } from "@/transport/api";
import { useStore } from "@/ui/store";

const ShareDialog = lazy(async () => ({ default: (await import("@/features/sharing/share-dialog")).ShareDialog }));

interface ChatsProps {
  services: Services;
  openId: string | null;
  onOpen: (id: string, messageId?: string) => void;
  onNew: () => void;
}

/** The list of chats, and the dialog that shares one of them. */
export function Chats({ services, openId, onOpen, onNew }: ChatsProps) {
  const [shared, setShared] = useState<string | null>(null);
  const { sessionIds } = useStore(services.waiting);
  return (
    <>
      <SessionList
        store={services.sessions}
        openId={openId}
        waitingIds={sessionIds}
        onOpen={onOpen}
        onRemoved={(id) => id === openId && onNew()}
        onShare={setShared}
        exportAddress={exportAddress}
      />
      {shared === null ? null : (
        <Suspense fallback={null}>
          <ShareDialog sessionId={shared} addressOf={shareAddress} onClose={() => setShared(null)} />
        </Suspense>
      )}
    </>
  );
}

function shareAddress(token: string): string {
  return new URL(addressOf({ kind: "shared", token }), location.href).href;
}
