CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()
