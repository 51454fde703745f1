-- A list with a random substring. keyed gets it in the body, PostgREST in the URL.

local head = os.getenv("METHOD") .. " " .. os.getenv("ADDRESS")
local headers = " HTTP/1.1\r\n" .. os.getenv("HEADERS")
local body = os.getenv("BODY")
local parts = {}
for part in os.getenv("PARTS"):gmatch("[^,]+") do parts[#parts + 1] = part end

function request()
  local part = parts[math.random(#parts)]
  if not body then return string.format(head, (part:gsub(" ", "%%20"))) .. headers .. "\r\n" end
  local text = string.format(body, part)
  return head .. headers .. "Content-Type: application/json\r\nContent-Length: " .. #text .. "\r\n\r\n" .. text
end
