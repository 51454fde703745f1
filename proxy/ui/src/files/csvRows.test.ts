import { expect, test } from "vitest";
import { eachRow } from "./csvRows";

function rows(text: string, isEnd = true): [number, string, boolean][] {
  const bytes = new TextEncoder().encode(text);
  const found: [number, string, boolean][] = [];
  eachRow(bytes, ",", isEnd, ({ start, end, line, isMalformed }) => {
    found.push([line, new TextDecoder().decode(bytes.subarray(start, end)), isMalformed]);
  });
  return found;
}

test("row ends as in the service", () => {
  for (const [text, expected] of [
    [
      'a,"b"\nc',
      [
        [1, 'a,"b"', false],
        [2, "c", false],
      ],
    ],
    [
      '"a\nb",c\nd',
      [
        [1, '"a\nb",c', false],
        [3, "d", false],
      ],
    ],
    [
      '"a\r\nb"\r\nd',
      [
        [1, '"a\r\nb"', false],
        [3, "d", false],
      ],
    ],
    [
      "a\rb\r\nc",
      [
        [1, "a", false],
        [2, "b", false],
        [3, "c", false],
      ],
    ],
    [
      '"Say ""hi"" now"\n""""\n',
      [
        [1, '"Say ""hi"" now"', false],
        [2, '""""', false],
      ],
    ],
    [
      '5" pipe,x\n6"\n',
      [
        [1, '5" pipe,x', false],
        [2, '6"', false],
      ],
    ],
    [
      'a, "b"\na""b,c"\n',
      [
        [1, 'a, "b"', false],
        [2, 'a""b,c"', false],
      ],
    ],
    [
      '"Say "hi" now",z\nd',
      [
        [1, '"Say "hi" now",z', true],
        [2, "d", false],
      ],
    ],
    [
      '"a"b,"\nc"',
      [
        [1, '"a"b,"', true],
        [2, 'c"', false],
      ],
    ],
    [
      '"5"" pipe,y\nRod,z\n"6"" pipe,y\nNut,z\n',
      [
        [1, '"5"" pipe,y', true],
        [2, "Rod,z", false],
        [3, '"6"" pipe,y', true],
        [4, "Nut,z", false],
      ],
    ],
    [
      '"a\nb","c\nd"e\n"f\ng"\n',
      [
        [1, '"a', true],
        [2, 'b","c', true],
        [3, 'd"e', false],
        [4, '"f\ng"', false],
      ],
    ],
    [
      'a,"b\nc\nd',
      [
        [1, 'a,"b', true],
        [2, "c", false],
        [3, "d", false],
      ],
    ],
    [
      '"b\r\nc\rd',
      [
        [1, '"b', true],
        [2, "c", false],
        [3, "d", false],
      ],
    ],
    [
      'a\n"',
      [
        [1, "a", false],
        [2, '"', true],
      ],
    ],
  ] as [string, [number, string, boolean][]][])
    expect(rows(text), text).toEqual(expected);
});

test("row that may continue is incomplete", () => {
  expect(rows("a\nb", false)).toEqual([[1, "a", false]]);
  expect(rows('a\n"b\nc', false)).toEqual([[1, "a", false]]);
  expect(rows("a\nb\r", false)).toEqual([[1, "a", false]]);
});

test("unclosed quote affects one row", () => {
  const found = rows(`a\n"b,c\n${"x,y\n".repeat(100_000)}`);
  expect(found.length).toBe(100_002);
  expect(found.filter(([, , isMalformed]) => isMalformed)).toEqual([[2, '"b,c', true]]);
});
