-- The board. Times are milliseconds since 1970 of the database's clock; a number is unique in its table.
create table teams (
    id {number},
    name text not null unique,
    lead text not null,
    roots text not null,
    next_task bigint not null
);
create table members (
    team bigint not null references teams (id),
    name text not null,
    role text not null,
    state text not null,
    epoch bigint not null,
    host text not null,
    session text not null,
    lease bigint not null,
    tokens bigint not null,
    cents bigint not null,
    primary key (team, name)
);
-- `owner` works on it or has completed it; `holder` and `epoch` are of the last attempt, whose lease may be over.
create table tasks (
    team bigint not null references teams (id),
    number bigint not null,
    subject text not null,
    description text not null,
    notes text not null,
    role text not null,
    status text not null,
    owner text,
    holder text,
    epoch bigint not null,
    attempt bigint not null,
    blockers bigint not null,
    failures bigint not null,
    lease bigint not null,
    primary key (team, number)
);
create index tasks_claimable on tasks (team, number) where status = 'pending' and blockers = 0;
create index tasks_leased on tasks (team, lease) where status = 'in_progress';
create index tasks_held on tasks (team, owner) where status = 'in_progress';
-- `met` is 1 once the task waited for was completed or cancelled; `tasks.blockers` counts those that are 0.
create table edges (
    team bigint not null references teams (id),
    task bigint not null,
    waits_for bigint not null,
    met bigint not null,
    primary key (team, task, waits_for)
);
create index edges_back on edges (team, waits_for);
-- Members that gave a task back as failed, and are not offered it again.
create table returns (
    team bigint not null references teams (id),
    task bigint not null,
    member text not null,
    primary key (team, task, member)
);
create table messages (
    number {number},
    team bigint not null references teams (id),
    receiver text not null,
    sender text not null,
    kind text not null,
    body text not null,
    request bigint,
    read_at bigint
);
create index messages_unread on messages (team, receiver, number) where read_at is null;
create table requests (
    id {number},
    team bigint not null references teams (id),
    kind text not null,
    asker text not null,
    receiver text not null,
    body text not null,
    state text not null,
    answer text not null
);
create index requests_open on requests (team, receiver) where state = 'open';
create table bundles (
    number {number},
    team bigint not null references teams (id),
    task bigint,
    attempt bigint not null,
    member text not null,
    summary text not null,
    content bytea not null,
    state text not null
);
create index bundles_waiting on bundles (team, number) where state = 'waiting';
create index bundles_of_task on bundles (team, task);
-- `team` is not checked here: each check locks the team's row, where all members meet. No team is ever removed.
create table log (
    number {number},
    at bigint not null,
    team bigint not null,
    task bigint,
    member text not null,
    event text not null,
    detail text not null
);
create index log_of_team on log (team, number);
