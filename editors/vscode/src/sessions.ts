// The session of this window: it returns after a reload or a crash of the window; after a longer while it is offered in the chat.

import * as vscode from 'vscode';
import type { Hub } from './hub.ts';
import type { Memory } from './memory.ts';

/** Within this time a window that is back is the same one, reloaded; in milliseconds. */
const RELOADED = 5 * 60_000;
/** How often the time is written down while the window is open, in milliseconds. */
const BEAT = 60_000;

export class WindowSession implements vscode.Disposable {
    private readonly disposables: vscode.Disposable[];
    private readonly beat: NodeJS.Timeout;

    constructor(private readonly hub: Hub, private readonly memory: Memory) {
        this.disposables = [
            hub.onHead((parts) => {
                if (parts.has('session') || parts.has('running')) this.keep();
            }),
        ];
        this.beat = setInterval(() => this.keep(), BEAT);
    }

    dispose(): void {
        clearInterval(this.beat);
        for (const one of this.disposables) one.dispose();
    }

    /** Goes on with what this window had, once a server runs; else says what could be gone on with. */
    async resume(): Promise<void> {
        if (this.hub.store.head.session) return;
        const sessions = await this.hub.sessions().catch(() => []);
        const kept = this.memory.get('session');
        const free = sessions.filter(({ inUse, current, turns }) => !inUse && !current && turns > 0);
        const own = free.find(({ session }) => session === kept?.session);
        // The server may have gone on with one by itself meanwhile.
        if (this.hub.store.head.session) return;
        if (own && kept && Date.now() - kept.at < RELOADED) {
            await this.hub.client.execute('resume', { session: own.session }).catch((error) => this.hub.log.warn(String(error)));
            return;
        }
        const [last] = own ? [own] : free;
        this.hub.setOffer(last ? { session: last.session, title: last.title, at: last.at } : undefined);
    }

    private keep(): void {
        const { session } = this.hub.store.head;
        if (session) this.memory.put('session', { session, at: Date.now() });
    }
}
