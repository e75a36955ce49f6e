// The status bar: what runs and for how long, what waits, what it cost.

import * as vscode from 'vscode';
import type { Hub } from './hub.ts';
import { count, money } from './store/words.ts';

export class StatusBar implements vscode.Disposable {
    private readonly item: vscode.StatusBarItem;
    private timer: NodeJS.Timeout | undefined;
    private readonly disposables: vscode.Disposable[];

    constructor(private readonly hub: Hub) {
        this.item = vscode.window.createStatusBarItem('ropewalk.status', vscode.StatusBarAlignment.Right, 50);
        this.item.name = 'Ropewalk';
        this.item.command = 'ropewalk.ui.menu';
        this.disposables = [this.item, hub.onHead(() => this.draw()), hub.onHealth(() => this.draw())];
        this.draw();
        this.item.show();
    }

    dispose(): void {
        clearInterval(this.timer);
        for (const one of this.disposables) one.dispose();
    }

    private draw(): void {
        const { head } = this.hub.store;
        clearInterval(this.timer);
        this.timer = head.running ? setInterval(() => this.write(), 1000) : undefined;
        this.write();
    }

    private write(): void {
        const { head } = this.hub.store;
        const { health } = this.hub;
        const asks = head.approvals.length + head.trust.length;
        const waits = head.hunks.length > 0 ? ` · ${count(head.hunks.length, 'change')}` : '';
        this.item.backgroundColor = undefined;
        if (health.state === 'problem') {
            this.item.text = '$(warning) Ropewalk';
            this.item.tooltip = health.words;
            this.item.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground');
        } else if (asks > 0) {
            this.item.text = '$(shield) Ropewalk asks';
            this.item.tooltip = 'Something waits for your answer';
            this.item.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground');
        } else if (head.running) {
            const seconds = Math.round((Date.now() - head.running.began) / 1000);
            this.item.text = `$(loading~spin) ${head.running.doing} ${seconds} s${waits}`;
            this.item.tooltip = this.facts();
        } else {
            this.item.text = health.state === 'starting' ? '$(loading~spin) Ropewalk' : `$(ropewalk-rope) Ropewalk${waits}`;
            this.item.tooltip = this.facts();
        }
        this.item.accessibilityInformation = { label: this.item.text.replace(/\$\([\w~-]+\)\s*/g, '') };
    }

    private facts(): string {
        const { mode, model, cost, context } = this.hub.store.head;
        const full = context?.size ? `context ${Math.round((100 * context.used) / context.size)}%` : '';
        return ['Ropewalk', model, mode && `mode ${mode}`, money(cost), full].filter(Boolean).join(' · ');
    }
}
