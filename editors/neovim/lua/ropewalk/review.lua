---Review of proposed changes: next, accept, reject, edit, list; and undo of what was accepted.
local accepted = require('ropewalk.accepted')
local changes = require('ropewalk.changes')
local client = require('ropewalk.client')
local hub = require('ropewalk.hub')
local keys = require('ropewalk.keys')
local notify = require('ropewalk.notify')
local text = require('ropewalk.text')

local M = {}

---The id of the change that the user was led to last.
local last_led_to ---@type integer?

local function say(words)
  notify.show('info', words)
end

---Tells the user if no change waits; true then.
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
  if #at == 0 and #hub.state.hunks == 1 and opts.name == 'accept' then
    -- The only change that waits is meant where it is on the screen.
    at = changes.touching(buffer, vim.fn.line('w0') - 1, vim.fn.line('w$') - 1)
  end
  local is_led_to = last_led_to and vim.tbl_contains(at, last_led_to)
  return is_led_to and { last_led_to } or vim.list_slice(at, 1, 1)
end

---Commands that take all changes at once, in the words of the screen.
local FOR_ALL = { accept = 'accepts', reject = 'rejects' }

---As `chosen`; where it is nothing, says what to do.
local function chosen_or_words(opts)
  if nothing_waits() then
    return nil
  end
  local ids = chosen(opts)
  if #ids == 0 then
    local count, for_all = #hub.state.hunks, FOR_ALL[opts.name]
    local words = 'No change at the cursor. :Ropewalk next leads to ' .. (count == 1 and 'it' or 'one of ' .. count)
    say(words .. (for_all and count > 1 and ('; :Ropewalk! %s %s all.'):format(opts.name, for_all) or '.'))
    return nil
  end
  return ids
end

---Milliseconds in which files that changed on the disk are gathered for one notice.
local GATHERED = 200
---Files that accepted changes have reached on the disk, for they are not open; not said yet.
local on_disk = {} ---@type table<string, boolean>

---Says what was changed on the disk, where the editor's own undo does not reach.
local function say_on_disk()
  local files = vim.tbl_keys(on_disk)
  on_disk = {}
  if #files == 1 then
    say(files[1] .. ' is not open: its change is on the disk. :Ropewalk undo takes it back.')
  elseif #files > 1 then
    say(#files .. ' files are not open: their changes are on the disk. :Ropewalk undo takes them back.')
  end
end

---Notes which of the changes that were made are in files that are not open here.
local function note_on_disk(made)
  for _, change in ipairs(made) do
    if vim.fn.bufloaded(vim.uri_to_fname(change.uri)) == 0 then
      if next(on_disk) == nil then
        vim.defer_fn(say_on_disk, GATHERED)
      end
      on_disk[text.line(change.file)] = true
    end
  end
end

---Scrolls so that the new lines of a change are on the screen as far as they fit.
local function show_new_lines(id)
  local _, last = changes.place(0, id)
  if not last then
    return
  end
  local needed = vim.api.nvim_win_text_height(0, { start_row = vim.fn.line('w0') - 1, end_row = last }).all
  local height = vim.api.nvim_win_get_height(0)
  if needed > height or vim.fn.line('.') == vim.fn.line('w0') then
    -- It does not fit below the cursor, or nothing of what stands before it is to be seen: it goes to the top, with two
    -- lines before it where there is room.
    vim.cmd('normal! zt')
    local view = vim.fn.winsaveview()
    if view.topline > 3 and height > 12 then
      vim.fn.winrestview({ topline = view.topline - 2 })
    end
  elseif last + 1 >= vim.api.nvim_buf_line_count(0) then
    -- Neovim by itself scrolls to no lines of ours below the last one of the buffer.
    vim.cmd('normal! zz')
  end
end

---True if a file is open or on the disk.
local function is_there(path)
  return vim.uv.fs_stat(path) ~= nil or vim.fn.bufloaded(path) == 1
end

---Leads to a change in whichever file.
---@param hunk table
function M.go(hunk)
  last_led_to = hunk.id
  local path = vim.fn.fnamemodify(vim.uri_to_fname(hunk.source or hunk.uri), ':.')
  if not is_there(path) then
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

---The number among all of the change to go on from: of the one that was led to if the cursor is still at it, else of the
---last one before the cursor. If this buffer's changes all stand behind the cursor, that of the one before them, which is
---0 where they are the first; nil if this buffer has none.
---@return integer?
local function number_here()
  local shown = vim.b.ropewalk_hunks
  if shown and shown[1] then
    return (select(2, hub.hunk(shown[1])))
  end
  local buffer, row = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
  local before
  for number, hunk in ipairs(hub.state.hunks) do
    local first, last = changes.place(buffer, hunk.id)
    if first and hunk.id == last_led_to and first <= row and row <= last then
      return number
    elseif first then
      before = last < row and number or before or number - 1
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
  -- Backwards leads to the change before the cursor, and one further only from the change that was led to.
  local is_at_it = here and here > 0 and hub.state.hunks[here].id == last_led_to
  local step = not backwards and 1 or is_at_it and -1 or 0
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
    local path = vim.uri_to_fname(hunk.source or hunk.uri)
    local buffer = vim.fn.bufnr(vim.fn.fnameescape(path))
    local row = buffer ~= -1 and changes.place(buffer, hunk.id) or hunk.line
    local name = is_there(path) and path or require('ropewalk.document').name_of_new(hunk)
    local makers = text.makers(hunk.members)
    words = text.line(vim.trim(words or '')) .. (makers and ' · ' .. makers or '')
    entries[#entries + 1] = { filename = name, lnum = row + 1, text = words, user_data = hunk.id }
  end
  vim.fn.setqflist({}, ' ', { title = 'Ropewalk: ' .. text.changes(hub.state.hunks), items = entries })
  vim.cmd('botright copen')
end

---What the last `undo` was about, until its outcome is told.
local taking_back ---@type { hunk: integer?, turn: integer? }?

---Takes accepted changes back: those of the last turn, of a turn by its number, or with `here` the one at the cursor.
function M.undo(words)
  local argument = {}
  if words == 'here' then
    argument.hunk = accepted.at(vim.api.nvim_win_get_cursor(0)[1] - 1)
    if not argument.hunk then
      return say('No accepted change of Ropewalk at the cursor. :Ropewalk undo takes back those of the last turn.')
    end
  elseif words ~= '' then
    argument.turn = tonumber(words)
    if not argument.turn then
      return notify.show('error', ':Ropewalk undo takes the number of a turn, or `here`.')
    end
  end
  taking_back = { hunk = argument.hunk, turn = argument.turn }
  argument.session = hub.state.session
  client.command('undo', argument)
end

hub.listen(function(event, state)
  if event.type == 'published' and state.mode ~= 'auto' then
    note_on_disk(event.changes)
  elseif event.type == 'reviewed' then
    for _, words in ipairs(event.failed or {}) do
      notify.show('warning', text.line(words))
    end
    if event.action == 'undo' then
      -- Of several some may stand still: which, is not told.
      if taking_back and #(event.failed or {}) == 0 then
        accepted.forget(taking_back)
      end
      taking_back = nil
    end
    if event.action == 'undo' and event.done > 0 then
      say(text.count(event.done, 'change is', 'changes are') .. ' taken back.')
    elseif event.action == 'undo' and #(event.failed or {}) == 0 then
      say('There is nothing to take back.')
    end
  elseif event.type == 'set_aside' then
    notify.show('warning', ('You typed into a proposed change of %s: your text stays.\n%s shows both · %s asks again')
      :format(text.line(event.file), keys.hint('aside'), keys.hint('again')))
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
