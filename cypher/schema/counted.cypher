// Around a read whose rows may hold many texts, where it is made for an answer: no rows where their characters pass
// $mostTexts, how many each row has, and how many they are. The statement stands in the place of __QUERY__.
// Texts are looked for in rows, in lists and maps of a row, and in lists and maps of such a list.
CALL () {
  __QUERY__
}
WITH rows, [row IN rows | reduce(inRow = 0, name IN keys(row) | inRow + CASE
  WHEN row[name] IS :: STRING NOT NULL THEN size(row[name])
  WHEN row[name] IS :: MAP NOT NULL THEN reduce(inMap = 0, part IN keys(row[name]) | inMap +
    CASE WHEN row[name][part] IS :: STRING NOT NULL THEN size(row[name][part]) ELSE 0 END)
  WHEN row[name] IS :: LIST<ANY> NOT NULL THEN reduce(inList = 0, item IN row[name] | inList + CASE
    WHEN item IS :: STRING NOT NULL THEN size(item)
    WHEN item IS :: LIST<ANY> NOT NULL THEN reduce(inItem = 0, value IN item | inItem +
      CASE WHEN value IS :: STRING NOT NULL THEN size(value) ELSE 0 END)
    WHEN item IS :: MAP NOT NULL THEN reduce(inItem = 0, part IN keys(item) | inItem +
      CASE WHEN item[part] IS :: STRING NOT NULL THEN size(item[part]) ELSE 0 END)
    ELSE 0 END)
  ELSE 0 END)] AS texts
WITH rows, texts, reduce(total = 0, one IN texts | total + one) AS characters
RETURN CASE WHEN characters > $mostTexts THEN [] ELSE rows END AS rows, texts, characters
