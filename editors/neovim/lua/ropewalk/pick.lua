---Choices: the model, the mode, the conversation; and what is done to a conversation as a whole.
local client = require('ropewalk.client')
local hub = require('ropewalk.hub')
local notify = require('ropewalk.notify')
local text = require('ropewalk.text')

local M = {}

local models = {} ---@type ropewalk.ModelInfo[]

local function say_problem(problem)
  if problem then
    notify.show('error', problem)
  end
end

---How long ago something was.
local function ago(milliseconds)
  local seconds = math.max(0, os.time() - math.floor(milliseconds / 1000))
  if seconds < 90 then
    return 'just now'
  elseif seconds < 5400 then
    return math.floor(seconds / 60 + 0.5) .. ' min ago'
  elseif seconds < 129600 then
    return math.floor(seconds / 3600 + 0.5) .. ' h ago'
  end
  return math.floor(seconds / 86400 + 0.5) .. ' days ago'
end

---A conversation in one line.
---@param session ropewalk.SessionInfo
---@return string
function M.session_words(session)
  local title = text.clip(text.line(session.title), 50)
  local words = ('“%s”, %s'):format(title ~= '' and title or 'without a name', ago(session.at))
  if (session.pending or 0) > 0 then
    words = words .. ' · ' .. text.count(session.pending, 'change waits', 'changes wait')
  end
  return words .. (session.current and ' · this one' or session.inUse and ' · in another window' or '')
end

---A model in one line: its name, what it lacks, its size and price.
local function model_words(model)
  local parts = { model.model .. (model.current and ' (now)' or '') }
  if not model.usable then
    parts[#parts + 1] = 'not usable' .. (model.missing and ': ' .. text.line(model.missing) or '')
  end
  if model.context then
    parts[#parts + 1] = text.tokens(model.context) .. ' tokens'
  end
  local price = model.price
  if type(price) == 'table' and price.input and price.output then
    parts[#parts + 1] = ('$%g in, $%g out'):format(price.input, price.output)
  end
  return table.concat(parts, ' · ')
end

---@return string[] # names of models that were told so far, for completion
function M.known_models()
  if #models == 0 and client.client() then
    client.command('models', {}, function(problem, result)
      models = not problem and type(result) == 'table' and (result.models or result) or {}
    end)
  end
  return vim.tbl_map(function(model) return model.model end, models)
end

local function set_model(name)
  client.command('model', { model = name }, function(problem, result)
    if problem then
      return say_problem(problem)
    end
    local missing = type(result) == 'table' and result.missing
    local more = missing or ('In this conversation. `model = "%s"` in ~/.config/ropewalk/config.toml makes it the usual one.'):format(name)
    notify.show(missing and 'warning' or 'info', 'Model: ' .. name .. '\n' .. more)
  end)
end

---`:Ropewalk model [PROVIDER/NAME]`
function M.model(words)
  if words ~= '' then
    return set_model(words)
  end
  client.command('models', {}, function(problem, result)
    if problem then
      return say_problem(problem)
    end
    models = result.models or result
    vim.ui.select(models, { prompt = 'Model', format_item = model_words }, function(model)
      if model then
        set_model(model.model)
      end
    end)
  end)
end

local MODES = {
  { name = 'review', words = 'review: changes wait until you accept them' },
  { name = 'auto', words = 'auto: changes are made at once; undo takes them back' },
  { name = 'plan', words = 'plan: nothing is changed' },
}

local function set_mode(name)
  client.command('mode', { mode = name }, function(problem)
    if problem then
      return say_problem(problem)
    end
    notify.show('info', 'Mode: ' .. name)
  end)
end

---`:Ropewalk mode [review|auto|plan]`
function M.mode(words)
  if words ~= '' then
    return set_mode(words)
  end
  vim.ui.select(MODES, {
    prompt = 'When changes reach your files',
    format_item = function(mode)
      return mode.words .. (mode.name == hub.state.mode and ' (now)' or '')
    end,
  }, function(mode)
    if mode then
      set_mode(mode.name)
    end
  end)
end

local function resume(session)
  client.command('resume', session and { session = session } or {}, say_problem)
end

---`:Ropewalk sessions`
function M.sessions()
  client.command('sessions', {}, function(problem, sessions)
    if problem then
      return say_problem(problem)
    elseif #sessions == 0 then
      return notify.show('info', 'There are no earlier conversations here.')
    end
    vim.ui.select(sessions, { prompt = 'Go on with', format_item = M.session_words }, function(session)
      if session and not session.current then
        resume(session.session)
      end
    end)
  end)
end

---`:Ropewalk continue`: goes on with the last conversation.
function M.continue()
  resume(nil)
end

---`:Ropewalk new`
function M.new()
  client.command('new', {}, function(problem)
    say_problem(problem)
    if not problem then
      notify.show('info', 'A new conversation. :Ropewalk sessions leads back.')
    end
  end)
end

---`:Ropewalk rewind [TURN]`: the words it began with come back into the input.
function M.rewind(words)
  local turn = tonumber(words)
  if words ~= '' and not turn then
    return notify.show('error', ':Ropewalk rewind takes the number of a turn.')
  end
  client.command('rewind', { turn = turn }, function(problem, result)
    say_problem(problem)
    if not problem and type(result) == 'table' and result.prompt then
      require('ropewalk.chat').put_back(result.prompt)
      notify.show('info', 'Taken back. Its words are in the input of :Ropewalk chat.')
    end
  end)
end

---`:Ropewalk compact [WHAT TO KEEP IN VIEW]`
function M.compact(words)
  client.command('compact', words ~= '' and { focus = words } or {}, say_problem)
end

---`:Ropewalk trust yes|never`
function M.trust(words)
  local answer = ({ yes = 'trust', never = 'never', forget = 'forget' })[words]
  if not answer then
    return notify.show('error', ':Ropewalk trust takes yes or never.')
  end
  local asked = hub.state.trust or {}
  client.command('trust', { answer = answer, root = asked.root, hash = asked.hash }, function(problem)
    say_problem(problem)
    if not problem then
      hub.state.trust = nil
      notify.show('info', answer == 'trust' and "This folder's configuration counts." or "This folder's configuration is ignored.")
    end
  end)
end

return M
