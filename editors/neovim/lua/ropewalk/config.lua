---Settings of the plugin: `vim.g.ropewalk`, then what `setup` was given.
local M = {}

---@class ropewalk.Config
---@field cmd string[] the server's command line
---@field autostart boolean true if the server starts with the first file, not with the first request
---@field settings table keys of Ropewalk's configuration in camelCase, such as `{ mode = 'auto' }`
---@field chat { position: 'auto'|'right'|'below', width: integer, height: number } where the chat opens; `auto` is right of 140 columns, else below; `height` is a part of the screen
---@field save boolean true if a file that had no unsaved text is saved once an accepted change stands in it
---@field bell boolean true if a question, or a long turn's end while Neovim is not focused, rings the bell
---@field hints boolean true if a change says which keys or commands accept and reject it
local defaults = {
  cmd = { 'ropewalk', 'lsp' },
  autostart = true,
  settings = {},
  chat = { position = 'auto', width = 66, height = 0.45 },
  save = false,
  bell = true,
  hints = true,
}

local given = {}
local wrong = {}

---The type that a key wants, for the message about another one.
local function check(path, values, against)
  for key, value in pairs(values) do
    local wanted = against[key]
    if wanted == nil then
      wrong[#wrong + 1] = ('`%s%s` is no setting'):format(path, key)
      values[key] = nil
    elseif type(value) ~= type(wanted) then
      wrong[#wrong + 1] = ('`%s%s` must be a %s'):format(path, key, type(wanted))
      values[key] = nil
    elseif type(wanted) == 'table' and not vim.islist(wanted) then
      check(path .. key .. '.', value, wanted)
    end
  end
end

---Takes settings, each in the place of its default. What is no setting is said by `:checkhealth ropewalk`.
---@param values table?
function M.set(values)
  given = vim.deepcopy(values or {})
end

---@return ropewalk.Config
function M.get()
  local all = vim.tbl_deep_extend('force', type(vim.g.ropewalk) == 'table' and vim.g.ropewalk or {}, given)
  wrong = {}
  local settings = all.settings
  all.settings = nil
  check('', all, defaults)
  all.settings = type(settings) == 'table' and settings or nil
  return vim.tbl_deep_extend('force', defaults, all)
end

---@return string[] # what is wrong with the settings, in words
function M.problems()
  M.get()
  return wrong
end

return M
