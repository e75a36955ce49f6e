// The model's words on the screen.

import hljs from 'highlight.js/lib/common';
import { memo } from 'preact/compat';
import { useMemo } from 'preact/hooks';
import { type Block, Blocks, parser } from './blocks.ts';

/** Longer code is shown plain: colours are not worth a frozen view. */
const HIGHLIGHTED = 50_000;

function highlight(code: string, language: string): string | undefined {
    if (code.length > HIGHLIGHTED || !hljs.getLanguage(language)) return undefined;
    return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}

const plain = parser(() => undefined);
const coloured = parser(highlight);

const Rendered = memo(({ block }: { block: Block }) => (
    <div class="block" dangerouslySetInnerHTML={{ __html: block.html }} />
), (before, now) => before.block.html === now.block.html);

export function Markdown({ text, isSettled }: { text: string; isSettled: boolean }) {
    const blocks = useMemo(() => new Blocks(plain, coloured), []);
    return (
        <div class="markdown">
            {blocks.update(text, isSettled).map((block) => <Rendered key={block.start} block={block} />)}
        </div>
    );
}
