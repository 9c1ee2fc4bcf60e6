package op

// QueryTile lets the external tests see that their cases are larger than a tile.
const QueryTile = queryTile
