// The page's sources as bytes of the program: mlbcc_page_NAME, and where they end.
.macro part name file
    .global mlbcc_page_\name
    .global mlbcc_page_\name\()_end
mlbcc_page_\name:
    .incbin "\file"
mlbcc_page_\name\()_end:
.endm

    .section .rodata
    part html "page.html"
    part css "page.css"
    part uplot_css "vendor/uplot.css"
    part uplot_js "vendor/uplot.js"
    part data_js "data.js"
    part format_js "format.js"
    part lanes_js "lanes.js"
    part timeline_js "timeline.js"
    part gestures_js "gestures.js"
    part table_js "table.js"
    part charts_js "charts.js"
    part flame_js "flame.js"
    part profile_js "profile.js"
    part requests_js "requests.js"
    part main_js "main.js"
    .section .note.GNU-stack,"",%progbits
