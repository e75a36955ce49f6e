// The user's own lines for each change, read out of a proposed text that they have changed and saved. Pure.

/** Where a change's lines stand in the proposed text. */
export interface Region {
    hunk: number;
    /** The first line, from zero. */
    line: number;
    lines: number;
}

/** Regions of the changes of one file in its proposed text, from their places in the user's text. They come in order. */
export function regions(hunks: readonly { id: number; line: number; lines: number; newLines: number }[]): Region[] {
    let shift = 0;
    return hunks.map(({ id, line, lines, newLines }) => {
        const region = { hunk: id, line: line + shift, lines: newLines };
        shift += newLines - lines;
        return region;
    });
}

/**
 * The new text of each change that is another in `saved` than in `proposed`. Null if something beside the changes is
 * another, or if it can't be told where a change begins.
 */
export function editedTexts(proposed: string, at: readonly Region[], saved: string): Map<number, string> | null {
    if (proposed === saved) return new Map();
    const lines = linesOf(proposed);
    const text = (from: number, to: number) => lines.slice(from, to).join('');
    for (const { hunk, line, lines: count } of at) {
        // Most often one change alone is another: all before and behind it stands as it was.
        const [before, behind] = [text(0, line), text(line + count, lines.length)];
        const isAround = saved.startsWith(before) && saved.endsWith(behind) && before.length + behind.length <= saved.length;
        if (isAround) return new Map([[hunk, saved.slice(before.length, saved.length - behind.length)]]);
    }
    return severalTexts(text, at, lines.length, saved);
}

function severalTexts(
    text: (from: number, to: number) => string,
    at: readonly Region[],
    end: number,
    saved: string,
): Map<number, string> | null {
    const found = new Map<number, string>();
    const head = text(0, at[0]?.line ?? 0);
    if (!saved.startsWith(head)) return null;
    let position = head.length;
    for (const [index, { hunk, line, lines }] of at.entries()) {
        const next = at[index + 1];
        const gap = text(line + lines, next?.line ?? end);
        const gapAt = next ? saved.indexOf(gap, position) : saved.length - gap.length;
        if (gapAt < position || !saved.startsWith(gap, gapAt) || (next && gap === '')) return null;
        const now = saved.slice(position, gapAt);
        if (now !== text(line, line + lines)) found.set(hunk, now);
        position = gapAt + gap.length;
    }
    return found;
}

/** Lines with their ends. */
function linesOf(text: string): string[] {
    return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
