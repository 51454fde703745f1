-- A list of fifty records of a city from a price on, the dearest first. keyed takes it as a body, PostgREST in its
-- address.

local head = os.getenv("METHOD") .. " " .. os.getenv("ADDRESS")
local headers = " HTTP/1.1\r\n" .. os.getenv("HEADERS")
local body = os.getenv("BODY")

function request()
  local city, price = math.random(0, 999), math.random(0, 8000)
  if not body then return string.format(head, city, price) .. headers .. "\r\n" end
  local text = string.format(body, city, price)
  return head .. headers .. "Content-Type: application/json\r\nContent-Length: " .. #text .. "\r\n\r\n" .. text
end
