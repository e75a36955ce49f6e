---Requests about a place in a file: a small input at the lines, or words given with the command.
local client = require('ropewalk.client')
local notify = require('ropewalk.notify')

local M = {}

---Earlier requests of this Neovim, the newest last.
M.earlier = {}

---A column of a line as the server counts.
local function column(line, bytes, encoding)
  return vim.str_utfindex(line, encoding, math.min(bytes, #line), false)
end

---What a request is about: the document, and the selected range, or an empty one at the cursor.
---@param buffer integer
---@param first integer line from one
---@param last integer
---@param is_selection boolean
---@return ropewalk.Subject
local function subject(buffer, first, last, is_selection)
  local uri, version = vim.uri_from_bufnr(buffer), vim.lsp.util.buf_versions[buffer]
  local last_line = vim.api.nvim_buf_get_lines(buffer, last - 1, last, false)[1] or ''
  local cursor = vim.api.nvim_get_current_buf() == buffer and vim.api.nvim_win_get_cursor(0)[2] or 0
  local function argument(encoding)
    local start = is_selection and 0 or column(last_line, cursor, encoding)
    local stop = is_selection and column(last_line, #last_line, encoding) or start
    return {
      textDocument = { uri = uri, version = version },
      range = { start = { line = first - 1, character = start }, ['end'] = { line = last - 1, character = stop } },
    }
  end
  return { buffer = buffer, row = last - 1, argument = argument }
end

---@class ropewalk.Subject
---@field buffer integer
---@field row integer the last line that it is about, from zero
---@field argument fun(encoding: string): table

---Sends a request. Where it can't be sent, `failed` gets the words back.
---@param words string
---@param about ropewalk.Subject?
---@param failed fun(problem: string)?
---@param member string? the teammate whom it is for
function M.send(words, about, failed, member)
  if M.earlier[#M.earlier] ~= words then
    table.insert(M.earlier, words)
  end
  client.ready(function(ready)
    local argument = { prompt = words, member = member }
    if about and ready then
      argument = vim.tbl_extend('error', argument, about.argument(ready.offset_encoding))
    end
    local progress = require('ropewalk.progress')
    local place = about and ready and vim.api.nvim_buf_is_loaded(about.buffer) and progress.begin(about.buffer, about.row)
    client.command('prompt', argument, function(problem, result)
      if place and problem then
        progress.drop(place)
      elseif place then
        local turn = type(result) == 'table' and result or {}
        progress.belongs(place, turn.turn, turn.session)
      end
      if problem then
        notify.show('error', problem)
        if failed then
          failed(problem)
        end
      elseif type(result) == 'table' and result.said then
        notify.show('info', result.said)
      end
    end)
  end)
end

---@param buffer integer
---@return boolean
local function is_file(buffer)
  return vim.bo[buffer].buftype == '' and vim.api.nvim_buf_get_name(buffer) ~= ''
end

---`:Ropewalk ask`, with the words or with an input for them.
function M.run(words, opts)
  local buffer = vim.api.nvim_get_current_buf()
  local about
  if is_file(buffer) then
    client.start(buffer)
    about = subject(buffer, opts.line1, opts.line2, opts.range > 0)
  end
  if words ~= '' then
    return M.send(words, about)
  end
  require('ropewalk.input').open(opts, function(written, failed)
    M.send(written, about, failed)
  end)
end

return M
