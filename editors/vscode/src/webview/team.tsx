// The team in the chat: a button for each teammate's conversation, and above a teammate's own whose it is and the way back.

import type { ShownTeammate, TeamButton } from '../chat/messages.ts';
import { post } from './api.ts';
import { Icon } from './icon.tsx';

/** Who of the team works on what; each leads to its conversation. */
export function Team({ team }: { team: TeamButton[] }) {
    if (team.length === 0) return null;
    return (
        <section class="team" aria-label="Team">
            <span class="dim">Team</span>
            {team.map(({ name, label, about, isWorking, session }) => {
                const inside = <><Icon name={isWorking ? 'circle-filled' : 'circle-outline'} /> <span>{label}</span><span class="sr">, {about}</span></>;
                // A worker elsewhere has no conversation here.
                if (session === null) return <span key={name} class="mate" title={about}>{inside}</span>;
                return (
                    <button key={name} type="button" class="mate" title={`${about}: show the conversation`} onClick={() => post({ type: 'show', teammate: { session, name } })}>
                        {inside}
                    </button>
                );
            })}
        </section>
    );
}

/** Whose conversation is shown, and the way back to the user's own. */
export function Whose({ teammate }: { teammate: ShownTeammate | null }) {
    if (!teammate) return null;
    const { name, about } = teammate;
    return (
        <header class="whose">
            <button type="button" onClick={() => post({ type: 'show', teammate: null })}><Icon name="arrow-left" /> Back</button>
            <span class="title" title={`${name} · ${about}`}><strong>{name}</strong>{about && <span class="dim"> · {about}</span>}</span>
        </header>
    );
}
