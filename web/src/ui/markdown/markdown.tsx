/** Markdown as React elements: HTML is never parsed, so a text cannot inject script, styles or remote images. */

import { memo, useId, useState } from "react";
import { showControls } from "@/text/visible";
import { FootnoteScope } from "@/ui/markdown/footnote";
import { type Block, BlockReader, closeMarks } from "@/ui/markdown/lexer";
import { Tokens } from "@/ui/markdown/tokens";

const BlockView = memo(function BlockView({ block }: { block: Block }) {
  return <Tokens tokens={[block.token]} />;
});

export const Markdown = memo(function Markdown({ text, isStreaming = false }: { text: string; isStreaming?: boolean }) {
  const [reader] = useState(() => new BlockReader());
  const blocks = reader.read(showControls(isStreaming ? closeMarks(text) : text));
  return (
    <FootnoteScope value={useId()}>
      <div className="markdown">
        {blocks.map((block, index) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: a block is identified by its position
          block.token.type === "space" ? null : <BlockView key={index} block={block} />,
        )}
      </div>
    </FootnoteScope>
  );
});
