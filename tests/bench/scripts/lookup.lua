-- GET of a record by key. wrk itself counts statuses above 399; reading each response in Lua would slow the load down.

local records = tonumber(os.getenv("RECORDS"))
local before = "GET " .. os.getenv("ADDRESS")
local after = " HTTP/1.1\r\n" .. os.getenv("HEADERS") .. "\r\n"

function request()
  return before .. "A-" .. math.random(1, records) .. after
end
