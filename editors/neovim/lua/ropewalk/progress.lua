---Words behind the line that a request is about, while it is worked on: what runs, and how it is stopped. They are no
---text of the buffer and move with its line.
local config = require('ropewalk.config')
local hub = require('ropewalk.hub')
local keys = require('ropewalk.keys')
local status = require('ropewalk.status')

local M = {}

local SPACE = vim.api.nvim_create_namespace('ropewalk.progress')

---@class ropewalk.AskedPlace
---@field buffer integer
---@field mark integer
---@field turn integer? the turn that answers, once it is known
---@field session string? the session of that turn

local places = {} ---@type ropewalk.AskedPlace[]

---What is said at a place now; nil where the conversation says it.
local function words_for(place)
  local state = hub.state
  if package.loaded['ropewalk.chat'] and require('ropewalk.chat').is_shown() then
    return nil
  end
  local is_running = place.turn ~= nil and state.running ~= nil and state.running.turn == place.turn
  local words = is_running and status.doing(state) or state.running and 'waits' or 'asking'
  if is_running and #state.approvals > 0 then
    words = 'asks'
  end
  local hint = is_running and config.get().hints and ' · ' .. keys.hints({ 'stop' }) or ''
  return (' … %s%s'):format(words, hint)
end

local function draw()
  for _, place in ipairs(places) do
    if vim.api.nvim_buf_is_loaded(place.buffer) then
      local row = vim.api.nvim_buf_get_extmark_by_id(place.buffer, SPACE, place.mark, {})[1]
      local words = words_for(place)
      vim.api.nvim_buf_set_extmark(place.buffer, SPACE, row or 0, 0, {
        id = place.mark, virt_text = words and { { words, 'RopewalkHint' } } or nil, hl_mode = 'combine', strict = false,
      })
    end
  end
end

---Shows a request at the line that it is about.
---@param buffer integer
---@param row integer from zero
---@return ropewalk.AskedPlace
function M.begin(buffer, row)
  local place = { buffer = buffer, mark = vim.api.nvim_buf_set_extmark(buffer, SPACE, row, 0, { strict = false }) }
  table.insert(places, place)
  draw()
  return place
end

---Takes the words of a request away.
---@param place ropewalk.AskedPlace
function M.drop(place)
  places = vim.tbl_filter(function(one) return one ~= place end, places)
  if vim.api.nvim_buf_is_valid(place.buffer) then
    vim.api.nvim_buf_del_extmark(place.buffer, SPACE, place.mark)
  end
end

---Says which turn answers a request; without one it was a command and is done.
---@param place ropewalk.AskedPlace
---@param turn integer?
---@param session string? the turn's
function M.belongs(place, turn, session)
  local has_ended = session == hub.state.session and vim.iter(hub.state.items):any(function(item)
    return item.kind == 'end' and item.turn == turn
  end)
  if not turn or has_ended then
    return M.drop(place)
  end
  place.turn, place.session = turn, session
  draw()
end

hub.listen(function(event)
  for _, place in ipairs(vim.list_slice(places)) do
    -- The server's answer, which names the turn, may come before the word that the turn's session has started.
    local is_over = event.type == 'disconnected' or event.type == 'session_started' and place.session ~= event.session
    local is_its_end = event.type == 'turn_ended' or event.type == 'unqueued'
    if is_over and place.turn or is_its_end and place.turn == event.turn then
      M.drop(place)
    end
  end
end)
status.listen(draw)

return M
