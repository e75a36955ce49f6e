---Events that the user should see wherever they are: what failed, what waits, a long turn's end.
local hub = require('ropewalk.hub')
local keys = require('ropewalk.keys')
local notify = require('ropewalk.notify')
local text = require('ropewalk.text')

---Seconds above which the end of a turn rings the bell while Neovim is not focused.
local LONG = 10

local began, is_focused = 0, true
vim.api.nvim_create_autocmd({ 'FocusGained', 'FocusLost' }, {
  callback = function(event) is_focused = event.event == 'FocusGained' end,
})

local ENDS = {
  max_tokens = 'The answer was cut off.', max_steps = 'Stopped at the limit of steps: ask to go on.',
  budget = 'Stopped: the budget is used up.', refusal = 'The model declined.', interrupted = 'Stopped.', error = 'Failed.',
}

---True if the conversation is on the screen, where its words are read.
local function is_chat_shown()
  return package.loaded['ropewalk.chat'] and require('ropewalk.chat').is_shown() or false
end

---The model's last words in a turn.
local function last_words(state, turn)
  local item = vim.iter(state.items):rfind(function(one)
    return one.kind == 'text' and one.turn == turn
  end)
  return item and vim.trim(table.concat(item.pieces)) or ''
end

local function turn_ended(event, state)
  if not is_focused and vim.uv.now() - began > LONG * 1000 then
    notify.bell()
  end
  if is_chat_shown() then
    return
  end
  local parts = {}
  if event.stopReason == 'end_turn' then
    parts[#parts + 1] = last_words(state, event.turn)
  else
    parts[#parts + 1] = event.message or ENDS[event.stopReason] or event.stopReason
  end
  if #state.hunks > 0 then
    parts[#parts + 1] = text.changes(state.hunks) .. (#state.hunks == 1 and ' waits' or ' wait') .. ' for you: ' .. keys.hint('next')
  end
  local is_bad = event.stopReason == 'error' or event.stopReason == 'refusal'
  notify.show(is_bad and 'error' or 'info', table.concat(parts, '\n'))
end

hub.listen(function(event, state)
  if event.type == 'turn_started' then
    began = vim.uv.now()
  elseif event.type == 'turn_ended' then
    turn_ended(event, state)
  elseif event.type == 'notice' then
    notify.show(event.level, event.message)
  elseif event.type == 'disconnected' then
    notify.show('warning', 'Ropewalk has ended unexpectedly and is started again.')
  elseif event.type == 'trust_requested' then
    notify.show('warning', event.question .. '\n:Ropewalk trust yes | never')
  end
end)

return {}
