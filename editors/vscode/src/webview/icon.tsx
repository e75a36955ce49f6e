// A codicon beside words: the words are what is read aloud.

export function Icon({ name, spin = false }: { name: string; spin?: boolean }) {
    return <span class={`codicon codicon-${name}${spin ? ' codicon-modifier-spin' : ''}`} aria-hidden="true" />;
}

/** Seconds as people say them: `12 s`, `3 min`. */
export function seconds(since: number, now: number): string {
    const all = Math.max(0, Math.round((now - since) / 1000));
    return all < 120 ? `${all} s` : `${Math.round(all / 60)} min`;
}
