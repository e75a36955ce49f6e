---Review of proposed changes: next, accept, reject, edit, list; and undo of what was accepted.
local changes = require('ropewalk.changes')
local client = require('ropewalk.client')
local hub = require('ropewalk.hub')
local notify = require('ropewalk.notify')
local text = require('ropewalk.text')

local M = {}

---The file or document that was looked at last, for changes in no buffer: the id of its change.
local last_led_to ---@type integer?

local function say(words)
  notify.show('info', words)
end

---True, and said, if nothing waits.
local function nothing_waits()
  if #hub.state.hunks == 0 then
    say(hub.state.running and 'No change waits for you yet.' or 'No change waits for you.')
    return true
  end
  return false
end

---The changes that a command is about: all with a bang, those in its range, else the one at the cursor.
local function chosen(opts)
  if opts.bang then
    return vim.tbl_map(function(hunk) return hunk.id end, hub.state.hunks)
  end
  local of_buffer = vim.b.ropewalk_hunks
  if of_buffer then
    return of_buffer
  end
  local buffer = vim.api.nvim_get_current_buf()
  if opts.range and opts.range > 0 then
    return changes.touching(buffer, opts.line1 - 1, opts.line2 - 1)
  end
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local at = changes.touching(buffer, row, row)
  local is_led_to = last_led_to and vim.tbl_contains(at, last_led_to)
  return is_led_to and { last_led_to } or vim.list_slice(at, 1, 1)
end

---As `chosen`; where it is nothing, says what to do.
local function chosen_or_words(opts)
  if nothing_waits() then
    return nil
  end
  local ids = chosen(opts)
  if #ids == 0 then
    local all = #hub.state.hunks
    say(('No change at the cursor. :Ropewalk next leads to one of %d; :Ropewalk! %s takes all.'):format(all, opts.name))
    return nil
  end
  return ids
end

---Scrolls so that the new lines of a change are on the screen as far as they fit.
local function show_new_lines(id)
  local _, last = changes.place(0, id)
  if not last then
    return
  end
  local needed = vim.api.nvim_win_text_height(0, { start_row = vim.fn.line('w0') - 1, end_row = last }).all
  local height = vim.api.nvim_win_get_height(0)
  if needed > height or vim.fn.line('.') - vim.fn.line('w0') < 1 then
    vim.cmd('normal! zt')
    local view = vim.fn.winsaveview()
    if view.topline > 3 and height > 12 then
      vim.fn.winrestview({ topline = view.topline - 2 })
    end
  elseif last + 1 >= vim.api.nvim_buf_line_count(0) then
    vim.cmd('normal! zz')
  end
end

---Leads to a change in whichever file.
---@param hunk table
function M.go(hunk)
  last_led_to = hunk.id
  local path = vim.uri_to_fname(hunk.uri)
  if hunk.kind == 'create' and not vim.uv.fs_stat(path) and vim.fn.bufloaded(path) == 0 then
    return require('ropewalk.document').show_new(hunk)
  end
  local buffer = vim.fn.bufadd(path)
  if buffer ~= vim.api.nvim_get_current_buf() then
    vim.cmd("normal! m'")
    local is_shown, problem = pcall(vim.api.nvim_cmd, { cmd = 'buffer', args = { buffer } }, {})
    if not is_shown then
      return notify.show('error', (tostring(problem):gsub('^.-(E%d+:)', '%1')))
    end
    vim.bo[buffer].buflisted = true
  end
  client.start(buffer)
  changes.draw(buffer)
  local row = changes.place(buffer, hunk.id) or hunk.line
  local last = vim.api.nvim_buf_line_count(buffer)
  vim.api.nvim_win_set_cursor(0, { math.min(row + 1, last), 0 })
  vim.cmd('normal! zv^')
  show_new_lines(hunk.id)
end

---The place of the change that the cursor is at, or between which ones it is.
local function number_here()
  for _, id in ipairs(vim.b.ropewalk_hunks or {}) do
    local _, number = hub.hunk(id)
    return number
  end
  local buffer, row = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
  local before
  for number, hunk in ipairs(hub.state.hunks) do
    local at = changes.place(buffer, hunk.id)
    if at and at <= row then
      before = number
      if hunk.id == last_led_to then
        return number
      end
    elseif at then
      return before or number - 1
    end
  end
  return before
end

---Leads to the next change, or the one before, and round.
---@param backwards boolean?
function M.next(_, _, backwards)
  if nothing_waits() then
    return
  end
  local all, here = #hub.state.hunks, number_here()
  if not here and last_led_to then
    here = select(2, hub.hunk(last_led_to))
  end
  local step = backwards and -1 or 1
  local number = here and (here - 1 + step) % all + 1 or backwards and all or 1
  M.go(hub.state.hunks[number])
end

function M.previous()
  M.next(nil, nil, true)
end

---Takes changes into the files.
function M.accept(_, opts)
  local ids = chosen_or_words(opts)
  if ids then
    client.command('accept', { hunk = ids, session = hub.state.session })
  end
end

---Drops changes; the reason is told to the model.
function M.reject(reason, opts)
  local ids = chosen_or_words(opts)
  if ids then
    local argument = { hunk = ids, session = hub.state.session }
    argument.reason = reason ~= '' and reason or nil
    client.command('reject', argument)
  end
end

---Opens the proposed lines of a change for the user to write them another way.
function M.edit(_, opts)
  local ids = chosen_or_words(opts)
  local hunk = ids and hub.hunk(ids[1])
  if not hunk then
    return
  elseif hunk.kind ~= 'text' and hunk.kind ~= 'create' then
    return say('This change has no lines to edit: accept or reject it.')
  end
  require('ropewalk.document').edit(hunk)
end

---Shows a change, or all of its file, beside what the user has.
function M.diff(_, opts)
  local ids = chosen_or_words(opts)
  local hunk = ids and hub.hunk(ids[1])
  if hunk then
    require('ropewalk.document').diff(hunk)
  end
end

---Puts all changes into the quickfix list.
function M.list()
  if nothing_waits() then
    return
  end
  local entries = {}
  for _, hunk in ipairs(hub.state.hunks) do
    local is_text = hunk.kind == 'text'
    local new = vim.trim((hunk.new or ''):match('[^\n]*%S[^\n]*') or '')
    local words = is_text and (new ~= '' and new or 'removes lines') or hunk.kind == 'create' and 'new file' or hunk.diff
    local path = vim.uri_to_fname(hunk.uri)
    local buffer = vim.fn.bufnr(vim.fn.fnameescape(path))
    local row = buffer ~= -1 and changes.place(buffer, hunk.id) or hunk.line
    entries[#entries + 1] = { filename = path, lnum = row + 1, text = text.line(words), user_data = hunk.id }
  end
  vim.fn.setqflist({}, ' ', { title = 'Ropewalk: ' .. text.changes(hub.state.hunks), items = entries })
  vim.cmd('botright copen')
end

---The published change at the cursor.
local function published_here()
  local uri, row = vim.uri_from_bufnr(0), vim.api.nvim_win_get_cursor(0)[1] - 1
  for _, of_turn in pairs(hub.state.published) do
    for _, change in ipairs(of_turn) do
      local range = change.range
      if change.uri == uri and range and range.start.line <= row and math.max(range['end'].line, range.start.line) >= row then
        return change.hunk
      end
    end
  end
end

---Takes accepted changes back: those of the last turn, of a turn by its number, or with `here` the one at the cursor.
function M.undo(words)
  local argument = {}
  if words == 'here' then
    argument.hunk = published_here()
    if not argument.hunk then
      return say('No accepted change of Ropewalk at the cursor. :Ropewalk undo takes back those of the last turn.')
    end
  elseif words ~= '' then
    argument.turn = tonumber(words)
    if not argument.turn then
      return notify.show('error', ':Ropewalk undo takes the number of a turn, or `here`.')
    end
  end
  argument.session = hub.state.session
  client.command('undo', argument)
end

hub.listen(function(event)
  if event.type == 'reviewed' then
    for _, words in ipairs(event.failed or {}) do
      notify.show('warning', text.line(words))
    end
    if event.action == 'undo' and event.done > 0 then
      say(text.count(event.done, 'change is', 'changes are') .. ' taken back.')
    end
  elseif event.type == 'set_aside' then
    notify.show('warning', ('You typed into a proposed change of %s: your text stays.\n:Ropewalk aside shows both · :Ropewalk again asks again')
      :format(text.line(event.file)))
  end
end)

---Asks again for the last change that the user's typing has displaced.
function M.again()
  local item = require('ropewalk.document').last_aside()
  if not item then
    return say('No change of yours has displaced a proposed one.')
  end
  local words = ('I have changed the text of %s that your last change replaces. Look at it as it is now and make the change again.')
    :format(item.file)
  client.command('prompt', { prompt = words })
end

return M
