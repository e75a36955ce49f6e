---`:Ropewalk` and its subcommands: one table, from which completion and help come.
local M = {}

---A subcommand of a module: its function, called with the words behind the name and Neovim's options.
local function of(module, name)
  return function(words, opts)
    return require('ropewalk.' .. module)[name](words, opts)
  end
end

---@class ropewalk.Subcommand
---@field run fun(words: string, opts: table)
---@field help string
---@field words string[]|(fun(): string[])? what may follow

---@type table<string, ropewalk.Subcommand>
M.all = {
  ask = { run = of('ask', 'run'), help = 'asks about the selection or the cursor line; without words in an input there' },
  chat = { run = of('chat', 'toggle'), help = 'opens the conversation, or leads to its input' },
  next = { run = of('review', 'next'), help = 'leads to the next proposed change, in whichever file' },
  previous = { run = of('review', 'previous'), help = 'leads to the one before' },
  accept = { run = of('review', 'accept'), help = 'accepts the change here; in a range those in it; with ! all' },
  reject = { run = of('review', 'reject'), help = 'rejects it; words are the reason, which the model hears' },
  edit = { run = of('review', 'edit'), help = 'opens the proposed lines; :w puts yours in their place' },
  diff = { run = of('review', 'diff'), help = 'shows the file beside how it would be' },
  list = { run = of('review', 'list'), help = 'puts all changes into the quickfix list' },
  undo = {
    run = of('review', 'undo'), words = { 'here' },
    help = 'takes back what was accepted of the last turn, of turn N, or here',
  },
  again = { run = of('review', 'again'), help = 'asks again for a change that your typing has displaced' },
  aside = { run = of('document', 'show_aside'), help = 'shows that change beside your text' },
  team = {
    run = of('team', 'run'), words = function() return require('ropewalk.team').names() end,
    help = 'shows who of the team works on what; a name leads to that conversation, lead to yours, `end NAME` ends one',
  },
  stop = { run = of('chat', 'stop'), help = 'stops what runs' },
  unqueue = { run = of('chat', 'unqueue'), help = 'takes the request that waits back into the input' },
  allow = {
    run = of('approval', 'allow'), words = { 'session', 'always', 'save' },
    help = 'answers the question: once, or as the word says',
  },
  refuse = { run = of('approval', 'refuse'), help = 'answers it with no; words go to the model' },
  answer = { run = of('approval', 'answer'), help = 'shows the whole question, with a key for each answer' },
  model = {
    run = of('pick', 'model'), help = 'chooses the model', words = function() return require('ropewalk.pick').known_models() end,
  },
  mode = { run = of('pick', 'mode'), help = 'chooses when changes reach your files', words = { 'review', 'auto', 'plan' } },
  sessions = { run = of('pick', 'sessions'), help = 'goes on with an earlier conversation' },
  continue = { run = of('pick', 'continue'), help = 'goes on with the last one' },
  new = { run = of('pick', 'new'), help = 'begins another conversation' },
  rewind = { run = of('pick', 'rewind'), help = 'takes back the words and changes of the last turn, or from turn N on' },
  compact = { run = of('pick', 'compact'), help = 'sums up the conversation so far; words say what to keep in view' },
  trust = { run = of('pick', 'trust'), help = "says if this folder's configuration counts", words = { 'yes', 'never' } },
  dismiss = { run = of('notify', 'dismiss'), help = 'takes notices off the screen' },
  restart = { run = of('client', 'restart'), help = 'starts the server anew' },
}

local function names()
  local all = vim.tbl_keys(M.all)
  table.sort(all)
  return all
end

---Runs `:Ropewalk …`.
---@param opts table as `nvim_create_user_command` gives it
function M.run(opts)
  local name, words = opts.args:match('^(%S*)%s*(.-)%s*$')
  if name == '' then
    name = 'ask'
  elseif vim.endswith(name, '!') then
    -- The mark belongs before the subcommand; here it is meant as well.
    name, opts.bang = name:sub(1, -2), true
  end
  local subcommand = M.all[name]
  if not subcommand then
    local near = vim.fn.matchfuzzy(names(), name)[1]
    local hint = near and (' Did you mean :Ropewalk %s?'):format(near) or ''
    require('ropewalk.notify').show('error', ('There is no :Ropewalk %s.%s To ask: :Ropewalk ask %s'):format(name, hint, opts.args))
    return
  end
  opts.name = name
  -- Whoever asks for something has read what was said, and it may lie over what comes.
  require('ropewalk.notify').dismiss()
  subcommand.run(words, opts)
end

---What can follow on the command line.
function M.complete(lead, line)
  local before = line:sub(1, #line - #lead):match('Ropewalk!?%s+(.-)%s*$') or ''
  local offers = before == '' and names() or (M.all[before] or {}).words or {}
  offers = type(offers) == 'function' and offers() or offers
  return vim.tbl_filter(function(offer)
    return vim.startswith(offer, lead)
  end, offers)
end

return M
