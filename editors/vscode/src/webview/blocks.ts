// Markdown that comes in pieces: finished blocks are frozen, only the open one is rendered again. Pure but for the parser.

import newMarkdownIt, { type MarkdownIt, type Token } from 'markdown-it';

export type Highlight = (code: string, language: string) => string | undefined;

/** A parser that makes no HTML of the text's own, no images, and highlights closed fences only. */
export function parser(highlight: Highlight): MarkdownIt {
    const md = newMarkdownIt({ html: false, linkify: false, breaks: false });
    // An image would be fetched; its link stays as words.
    md.disable('image');
    md.validateLink = (url) => /^(https?:|mailto:|#)/i.test(url.trim());
    md.renderer.rules.fence = (tokens, index) => fence(md, tokens[index], highlight);
    md.renderer.rules.code_block = (tokens, index) => fence(md, tokens[index], () => undefined);
    md.renderer.rules.table_open = () => '<div class="table" tabindex="0" role="region" aria-label="Table"><table>';
    md.renderer.rules.table_close = () => '</table></div>';
    // Headings of an answer stand below those of the page.
    md.renderer.rules.heading_open = (tokens, index) => `<p class="heading ${tokens[index]?.tag ?? ''}" role="heading" aria-level="3">`;
    md.renderer.rules.heading_close = () => '</p>';
    return md;
}

function fence(md: MarkdownIt, token: Token | undefined, highlight: Highlight): string {
    if (!token) return '';
    const { escapeHtml } = md.utils;
    const language = token.info.trim().split(/\s+/)[0] ?? '';
    const lines = token.content;
    const html = highlight(lines, language) ?? escapeHtml(lines);
    const label = escapeHtml(language || 'code');
    const copy = '<button type="button" class="copy" data-copy title="Copy"><span class="codicon codicon-copy" aria-hidden="true"></span><span class="sr">Copy</span></button>';
    return `<div class="code"><div class="bar"><span>${label}</span>${copy}</div><pre tabindex="0" role="region" aria-label="${label}"><code>${html}</code></pre></div>`;
}

export interface Block {
    /** Where it starts in the text: it stays its name as more comes. */
    start: number;
    html: string;
}

/** Text that grows at its end, as blocks. */
export class Blocks {
    private frozen: Block[] = [];
    private done = 0;
    private text = '';
    /** How many characters were parsed in all: tests hold this against the text's length. */
    parsed = 0;

    private readonly plain: MarkdownIt;
    private readonly coloured: MarkdownIt;

    constructor(plain: MarkdownIt, coloured: MarkdownIt) {
        this.plain = plain;
        this.coloured = coloured;
    }

    /** All blocks of this text. Those that can't change any more are the same objects as before. */
    update(text: string, isSettled: boolean): Block[] {
        if (!text.startsWith(this.text.slice(0, this.done))) {
            this.frozen = [];
            this.done = 0;
        }
        this.text = text;
        const tail = text.slice(this.done);
        this.parsed += tail.length;
        const starts = topLevel(this.plain, tail);
        const last = starts.at(-1) ?? 0;
        const finished = isSettled ? starts : starts.slice(0, -1);
        for (const [index, start] of finished.entries()) {
            const end = starts[index + 1] ?? tail.length;
            this.frozen = [...this.frozen, { start: this.done + start, html: this.coloured.render(tail.slice(start, end)) }];
        }
        if (isSettled) {
            this.done = text.length;
            return this.frozen;
        }
        const open = { start: this.done + last, html: this.plain.render(tail.slice(last)) };
        this.done += last;
        return [...this.frozen, open];
    }
}

/** Offsets at which top-level blocks begin. */
function topLevel(md: MarkdownIt, text: string): number[] {
    const lines = [0];
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.push(at + 1);
    const blocks = md.parse(text, {}).filter(({ level, map, nesting }) => level === 0 && map && nesting >= 0);
    return blocks.map(({ map }) => lines[map?.[0] ?? 0] ?? 0);
}
