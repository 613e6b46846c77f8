import { useState } from "react";
import type { ServerInfo, ServerState } from "@/protocol/servers";
import { formatMoment } from "@/text/format";
import { LANGUAGES, useLanguage, useText } from "@/text/text";
import { endLogin, reconnectServer, startLogin } from "@/transport/servers";
import { useAttempt } from "@/ui/attempt";
import { Button } from "@/ui/button";
import { ErrorLine } from "@/ui/notice";
import { Row } from "@/ui/panel";
import { ScrollBlock } from "@/ui/scroll-block";
import { Spinner } from "@/ui/spinner";

const DOTS: Record<ServerState, string> = {
  connected: "bg-accent",
  connecting: "bg-accent animate-breathe",
  lost: "bg-warn",
  login: "bg-warn",
  failed: "bg-danger",
  disabled: "bg-line-strong",
};

interface ServerRowProps {
  server: ServerInfo;
  /** Whether its details are open from the start. */
  isShown: boolean;
  onChanged: (server: ServerInfo) => void;
}

/** One MCP server: its state, what it brings, what it wrote, and what can be done. */
export function ServerRow({ server, isShown, onChanged }: ServerRowProps) {
  const t = useText();
  const dot = <span aria-hidden="true" className={`size-2 shrink-0 self-center rounded-full ${DOTS[server.state]}`} />;
  return (
    <Row title={server.name} detail={t.serverStates[server.state]} mark={dot}>
      <p className="font-mono text-[12px] break-all">{server.address}</p>
      <Facts server={server} />
      {server.problem === null || server.state === "login" ? null : (
        <p className="break-words text-danger">{server.problem}</p>
      )}
      {server.login.error === null ? null : (
        <p role="alert" className="break-words text-danger">
          {t.loginFailed} {server.login.error}
        </p>
      )}
      <Tools names={server.tools} isOpen={isShown} />
      <Log lines={server.log} isOpen={server.state === "failed" && server.log.length > 0} />
      {server.state === "disabled" ? null : <Actions server={server} onChanged={onChanged} />}
    </Row>
  );
}

function Facts({ server }: { server: ServerInfo }) {
  const t = useText();
  const locale = LANGUAGES[useLanguage()].locale;
  const facts = [
    server.connectedAt === null ? "" : t.serverSince(formatMoment(server.connectedAt, locale)),
    server.login.isDone ? t.serverLoggedIn : "",
    server.isTrusted || server.tools.length === 0 ? "" : t.serverUntrusted,
  ].filter((fact) => fact !== "");
  return facts.length === 0 ? null : <p>{facts.join(" · ")}</p>;
}

function Tools({ names, isOpen }: { names: readonly string[]; isOpen: boolean }) {
  const t = useText();
  if (names.length === 0) return null;
  return (
    <details open={isOpen} className="pt-1">
      <summary className="cursor-pointer hover:text-ink">{t.serverTools(names.length)}</summary>
      <p className="pt-1 pl-4 font-mono text-[12px] leading-[1.7] break-words">{names.join(", ")}</p>
    </details>
  );
}

function Log({ lines, isOpen }: { lines: ServerInfo["log"]; isOpen: boolean }) {
  const t = useText();
  if (lines.length === 0) return null;
  return (
    <details open={isOpen} className="pt-1">
      <summary className="cursor-pointer hover:text-ink">
        {t.serverLog} <span className="text-faint">({t.serverLogCount(lines.length)})</span>
      </summary>
      <ScrollBlock className="mt-1 max-h-60 rounded-lg bg-raised p-3 text-[12px]">
        {lines.map((line) => line.text).join("\n")}
      </ScrollBlock>
    </details>
  );
}

function Actions({ server, onChanged }: Omit<ServerRowProps, "isShown">) {
  const t = useText();
  const { isBusy, error, run } = useAttempt();
  const [address, setAddress] = useState<string | null>(null);
  const { login, state } = server;
  const reconnect = () => run(async () => onChanged(await reconnectServer(server.name)));
  const logOut = () => run(async () => onChanged(await endLogin(server.name)));
  const logIn = () =>
    run(async () => {
      const found = await startLogin(server.name);
      setAddress(found);
      window.open(found, "_blank", "noopener");
    });
  return (
    <div className="space-y-2 pt-2">
      {address !== null && state === "login" && login.isWaiting ? (
        <p role="status">
          {t.loginWaiting}{" "}
          <a href={address} target="_blank" rel="noopener noreferrer" className="text-accent underline">
            {t.openLoginPage}
          </a>
        </p>
      ) : null}
      {error === null ? null : <ErrorLine error={error} />}
      <div className="flex flex-wrap items-center gap-2">
        {login.isPossible && state === "login" ? (
          <Button look="primary" disabled={isBusy} onClick={() => void logIn()}>
            {t.logIn}
          </Button>
        ) : null}
        <Button disabled={isBusy || state === "connecting"} onClick={() => void reconnect()}>
          {t.reconnectServer}
        </Button>
        {login.isDone ? (
          <Button look="plain" disabled={isBusy} onClick={() => void logOut()}>
            {t.logOut}
          </Button>
        ) : null}
        {isBusy ? <Spinner /> : null}
      </div>
    </div>
  );
}
