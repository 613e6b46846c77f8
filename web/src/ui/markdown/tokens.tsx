import { ImageIcon, Square, SquareCheck } from "lucide-react";
import type { Tokens as MarkedTokens, Token } from "marked";
import { Fragment, lazy, type ReactNode, Suspense } from "react";
import { useText } from "@/text/text";
import { showControls } from "@/text/visible";
import { CodeBlock } from "@/ui/markdown/code-block";
import { decodeEntities, safeAddress, safeImage } from "@/ui/markdown/entities";
import type { DetailsToken, FootnoteToken } from "@/ui/markdown/extras";
import { FootnoteFrame, FootnoteMark } from "@/ui/markdown/footnote";
import type { MathToken } from "@/ui/markdown/lexer";

const Diagram = lazy(() => import("@/ui/markdown/diagram"));
const MathView = lazy(() => import("@/ui/markdown/math"));

/** Renders tokens; an unknown one is shown as its source text. */
export function Tokens({ tokens }: { tokens: readonly Token[] | undefined }): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: a token is identified by its position
  return tokens?.map((token, index) => <Fragment key={index}>{draw(token as MarkedTokens.Generic)}</Fragment>);
}

type Draw = (token: MarkedTokens.Generic) => ReactNode;

const children: Draw = (token) => <Tokens tokens={token.tokens} />;
/** The lexer decodes some character references itself, so what is drawn is cleaned here as well. */
const plain: Draw = (token) => showControls(decodeEntities(String(token["text"] ?? token.raw)));

const DRAWINGS: Record<string, Draw> = {
  paragraph: (token) => <p>{children(token)}</p>,
  text: (token) => (token.tokens ? children(token) : plain(token)),
  escape: plain,
  strong: (token) => <strong>{children(token)}</strong>,
  em: (token) => <em>{children(token)}</em>,
  del: (token) => <del>{children(token)}</del>,
  codespan: (token) => <code>{showControls(String(token["text"]))}</code>,
  br: () => <br />,
  hr: () => <hr />,
  space: () => null,
  def: () => null,
  checkbox: () => null,
  blockquote: (token) => <blockquote>{children(token)}</blockquote>,
  heading: drawHeading,
  code: drawCode,
  list: (token) => drawList(token as MarkedTokens.List),
  table: (token) => drawTable(token as MarkedTokens.Table),
  link: drawLink,
  image: drawImage,
  details: (token) => drawDetails(token as unknown as DetailsToken),
  footnote: (token) => <Footnote token={token as unknown as FootnoteToken} />,
  footnoteRef: (token) => <FootnoteMark name={String(token["name"])} />,
  math: (token) => drawMath(token as unknown as MathToken),
};

function draw(token: MarkedTokens.Generic): ReactNode {
  return (DRAWINGS[token.type] ?? ((unknown) => unknown.raw))(token);
}

function drawHeading(token: MarkedTokens.Generic): ReactNode {
  // The first heading levels belong to the page itself.
  const Heading = `h${Math.min(6, Number(token["depth"]) + 2)}` as "h3";
  return (
    <Heading data-level={token["depth"]} className={`level-${token["depth"]}`}>
      {children(token)}
    </Heading>
  );
}

function drawCode(token: MarkedTokens.Generic): ReactNode {
  const code = String(token["text"]);
  const language = String(token["lang"] ?? "");
  const block = <CodeBlock code={code} language={language} />;
  // A diagram is drawn when its block is complete; its source is shown while it streams.
  if (language !== "mermaid" || !/\n\s*(`{3,}|~{3,})\s*$/.test(token.raw)) return block;
  return (
    <Suspense fallback={block}>
      <Diagram source={code} />
    </Suspense>
  );
}

function drawList(token: MarkedTokens.List): ReactNode {
  const items = token.items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: an item is identified by its position
    <li key={index} className={item.task ? "task" : undefined}>
      {item.task ? <TaskMark isDone={item.checked === true} /> : null}
      <Tokens tokens={item.tokens} />
    </li>
  ));
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function TaskMark({ isDone }: { isDone: boolean }) {
  const t = useText();
  const Mark = isDone ? SquareCheck : Square;
  return (
    <Mark size={16} aria-label={isDone ? t.done : t.notDone} className="mr-2 inline-block align-[-3px] text-accent" />
  );
}

function drawTable(token: MarkedTokens.Table): ReactNode {
  return (
    <div className="table-frame">
      <table>
        <thead>
          <tr>
            {token.header.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column is identified by its position
              <th key={index} data-align={cell.align ?? undefined}>
                <Tokens tokens={cell.tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, line) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row is identified by its position
            <tr key={line}>
              {row.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a column is identified by its position
                <td key={index} data-align={cell.align ?? undefined}>
                  <Tokens tokens={cell.tokens} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function drawLink(token: MarkedTokens.Generic): ReactNode {
  const address = safeAddress(String(token["href"]));
  if (address === null) return children(token);
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow">
      {children(token)}
    </a>
  );
}

function drawImage(token: MarkedTokens.Generic): ReactNode {
  const title = showControls(decodeEntities(String(token["text"] ?? "")));
  const own = safeImage(String(token["href"]));
  if (own !== null) return <img src={own} alt={title} loading="lazy" />;
  const address = safeAddress(String(token["href"]));
  return address === null ? title : <RemoteImage address={address} title={title} />;
}

/** An image from elsewhere is a link: loading it would reveal the reader to its host. */
function RemoteImage({ address, title }: { address: string; title: string }) {
  const t = useText();
  const host = /^https?:\/\/([^/?#]+)/i.exec(address)?.[1] ?? address;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow" title={t.imageFromHint}>
      <ImageIcon size={14} className="mr-1 inline-block align-[-2px]" aria-hidden="true" />
      {title === "" ? t.imageFrom(host) : `${title} (${t.imageFrom(host)})`}
    </a>
  );
}

function Footnote({ token }: { token: FootnoteToken }) {
  return (
    <FootnoteFrame name={token.name}>
      <Tokens tokens={token.tokens} />
    </FootnoteFrame>
  );
}

function drawDetails(token: DetailsToken): ReactNode {
  return (
    <details open={token.isOpen}>
      <summary>{showControls(decodeEntities(token.summary)) || "…"}</summary>
      <div>
        <Tokens tokens={token.tokens} />
      </div>
    </details>
  );
}

function drawMath(token: MathToken): ReactNode {
  return (
    <Suspense fallback={<code>{token.text}</code>}>
      <MathView source={token.text} isBlock={token.isBlock} />
    </Suspense>
  );
}
