-- A list with two conditions, each on a number from a range. keyed gets it in the body, PostgREST in the URL.

local head = os.getenv("METHOD") .. " " .. os.getenv("ADDRESS")
local headers = " HTTP/1.1\r\n" .. os.getenv("HEADERS")
local body = os.getenv("BODY")
local from, to, other_from, other_to = os.getenv("RANGES"):match("(%d+) (%d+) (%d+) (%d+)")

function request()
  local one, other = math.random(from, to), math.random(other_from, other_to)
  if not body then return string.format(head, one, other) .. headers .. "\r\n" end
  local text = string.format(body, one, other)
  return head .. headers .. "Content-Type: application/json\r\nContent-Length: " .. #text .. "\r\n\r\n" .. text
end
