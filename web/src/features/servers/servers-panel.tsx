import { useEffect, useState } from "react";
import { ServerRow } from "@/features/servers/server-row";
import type { ServerInfo } from "@/protocol/servers";
import { useText } from "@/text/text";
import { keepAdminToken } from "@/transport/admin";
import { listServers } from "@/transport/servers";
import { Load } from "@/ui/load";
import { PanelBody } from "@/ui/panel";

/** How often the servers are read again, in milliseconds. */
const PAUSE = 3000;

/** The configured MCP servers; `argument` is the one that a login came back to. */
export function ServersPanel({ argument }: { argument: string | null }) {
  return (
    <Load load={listServers} onToken={keepAdminToken}>
      {(servers) => <Servers first={servers} shown={argument} />}
    </Load>
  );
}

function Servers({ first, shown }: { first: ServerInfo[]; shown: string | null }) {
  const t = useText();
  const [servers, setServers] = useState(first);
  const replace = (changed: ServerInfo) =>
    setServers((known) => known.map((server) => (server.name === changed.name ? changed : server)));
  useEffect(() => {
    const look = () => {
      // A failed look keeps what was seen; the next one comes soon.
      if (!document.hidden) void listServers().then(setServers, () => undefined);
    };
    const timer = setInterval(look, PAUSE);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, []);
  return (
    <PanelBody hint={t.serversHint}>
      {servers.length === 0 ? <p className="text-[13px] text-soft">{t.noServers}</p> : null}
      <ul>
        {servers.map((server) => (
          <ServerRow key={server.name} server={server} isShown={server.name === shown} onChanged={replace} />
        ))}
      </ul>
    </PanelBody>
  );
}
