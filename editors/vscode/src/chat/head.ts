// What the chat shows beside the conversation: of the one that is shown, and of the team.

import type { Hub } from '../hub.ts';
import { does, isTeammate, LEAD, plain } from '../store/words.ts';
import type { ChatHead, ShownTeammate, TeamButton } from './messages.ts';

const MENDS = { settings: 'Open Settings', install: 'How to Install', restart: 'Start Again' };

export function chatHead(hub: Hub): ChatHead {
    const { title, mode, model, running, waiting, todos, cost, context } = hub.current.head;
    const { approvals, trust, hunks } = hub.store.head;
    const { health, offer } = hub;
    const teammate = shownTeammate(hub);
    return {
        title, mode, model, running, waiting, todos, cost, context, approvals, teammate,
        // The review, the folder's trust and other conversations are the user's own affairs.
        team: teammate ? [] : buttons(hub),
        trust: teammate ? [] : trust,
        changed: teammate ? [] : hunks.map(({ file }) => file),
        problem: health.state === 'problem' ? { words: health.words, mend: MENDS[health.mend], command: 'mend' } : null,
        isStarting: health.state === 'starting',
        offer: offer && !teammate ? { session: offer.session, title: offer.title } : null,
    };
}

/** The teammate whose conversation is shown. One that has ended has no session any more, so it is found by its name. */
function shownTeammate({ shown, current, store }: Hub): ShownTeammate | null {
    const { member: name } = current;
    if (shown === null || !name) return null;
    const { team, board } = store.head;
    const here = team.find(({ session }) => session === shown);
    const known = here ?? team.find((one) => one.name === name);
    const work = here ? does(here, board) : 'has ended';
    const about = known ? [plain(known.role), work].filter(Boolean).join(' · ') : '';
    return { session: shown, name: plain(name), about, isHere: here !== undefined && isTeammate(here) };
}

function buttons({ store }: Hub): TeamButton[] {
    const { team, board } = store.head;
    const living = team.filter(({ name, state }) => name !== LEAD && state !== 'shutdown' && state !== 'gone');
    return living.map((member) => ({
        name: member.name,
        label: plain(member.task === null ? member.name : `${member.name} #${member.task}`),
        about: [plain(member.role), does(member, board)].filter(Boolean).join(' · '),
        isWorking: member.state === 'working',
        session: member.session ?? null,
    }));
}
