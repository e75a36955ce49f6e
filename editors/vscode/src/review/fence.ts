// Text of others inside Markdown: it stays text.

/** Text as a block of code that it can't leave. */
export function fenced(text: string, language: string): string {
    const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
    const fence = '`'.repeat(longest + 1);
    return `${fence}${language}\n${text.endsWith('\n') ? text : `${text}\n`}${fence}\n`;
}
